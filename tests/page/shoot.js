// SPDX-License-Identifier: Apache-2.0
// Takes one screenshot of a page with Chromium, by its DevTools protocol over a pipe.
//
//   node shoot.js URL FILE WIDTH HEIGHT light|dark     HEIGHT 0: that of the page
//
// Leaves the browser's profile in $TMPDIR.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [url, file, width, height, scheme] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "rowferry-shoot."));
const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
  "--remote-debugging-pipe", "--user-data-dir=" + profile], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map();
let number = 0, rest = "";
browser.stdio[4].on("data", (chunk) => {
  const texts = (rest + chunk).split("\0");
  rest = texts.pop();
  for (const answer of texts.map((text) => JSON.parse(text))) {
    if (answer.error) throw new Error(JSON.stringify(answer.error));
    if (waiting.has(answer.id)) waiting.get(answer.id)(answer.result);
  }
});

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const main = async () => {
  let sessionId;
  const call = (method, params) => new Promise((done) => {
    waiting.set(++number, done);
    browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
  });
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  ({ sessionId } = await call("Target.attachToTarget", { targetId, flatten: true }));
  await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const size = { width: Number(width), height: Number(height) || 800, deviceScaleFactor: 1, mobile: width < 600 };
  await call("Emulation.setDeviceMetricsOverride", size);
  await call("Page.navigate", { url });
  const answered = { expression: "document.getElementById('pipelines')?.children.length > 0" };
  do await sleep(500); while (!(await call("Runtime.evaluate", answered)).result.value);
  await sleep(9000); // some refreshes
  const { data } = await call("Page.captureScreenshot", { captureBeyondViewport: height === "0" });
  fs.writeFileSync(file, Buffer.from(data, "base64"));
  browser.kill();
};
main();
