select rowferry.drop_capture({relation}, {key});
