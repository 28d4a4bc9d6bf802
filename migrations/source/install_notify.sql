select rowferry.add_capture({relation}, {key}, {expression}, {notify});
