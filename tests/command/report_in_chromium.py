#!/usr/bin/env python3
"""Reports of the kernelet command in headless Chromium: wide and narrow, light and dark.

Usage: report_in_chromium.py <kernelet> <chromium> <folder of its own> [page.html ...]

Makes a report for 1, 2 and 5 inputs and for classes, or takes the pages that are given. Each is loaded over the DevTools
pipe. Fails on an error or a warning of the console, a request for anything but the page, a missing text, a picture without
an area, a picture of one color, text that another text of the same picture covers, or a page that is wider than the
window. Needs the standard library only. The pictures stay in the folder.
"""
import base64
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from math import exp, pi, sin

WIDTHS = (1280, 400)
THEMES = ("light", "dark")


class Browser:
    """Chromium by its DevTools pipe: JSON messages that end in a zero byte, in on descriptor 3 and out on 4."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="kernelet_chromium_")
        commands, self.out = os.pipe()
        self.back, answers = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-dev-shm-usage", "--user-data-dir=" + self.profile, "--remote-debugging-pipe",
                 "about:blank"]
        # The shell gives the descriptors their numbers: between fork and exec, Python must run no code of its own.
        script = f'exec "$@" 3<&{commands} 4>&{answers}'
        self.process = subprocess.Popen(["bash", "-c", script, "chromium", program] + flags,
                                        pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.sent, self.events, self.session = b"", 0, [], None
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            got = os.read(self.back, 1 << 20)
            if not got:
                raise SystemExit("report_in_chromium: Chromium ended")
            self.buffer += got
        one, self.buffer = self.buffer.split(b"\0", 1)
        answer = json.loads(one)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def call(self, method, **parameters):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def load(self, page, width, theme):
        """Returns what went wrong while the page was loaded."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        url = pathlib.Path(page).resolve().as_uri()
        self.call("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.message()
        self.evaluate("document.title")  # what the console wrote has arrived before this answer
        wrong = []
        for event in self.events:
            method, about = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                wrong.append("exception: " + str(about["exceptionDetails"].get("text")))
            if method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                wrong.append("console: " + about["entry"]["text"])
            if method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
                wrong.append("console: " + str(about["args"]))
            if method == "Network.loadingFailed":
                wrong.append("request failed: " + str(about.get("errorText")))
            if method == "Network.requestWillBeSent":
                asked = about["request"]["url"]
                if asked != url and not asked.startswith("data:"):
                    wrong.append("asks for " + asked)
        return wrong

    def picture(self, box, scale=1):
        clip = {"x": box[0], "y": box[1], "width": box[2], "height": box[3], "scale": scale}
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])

    def close(self):
        self.session = None
        self.sent += 1
        os.write(self.out, json.dumps({"id": self.sent, "method": "Browser.close"}).encode() + b"\0")
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.profile, ignore_errors=True)


def colors_of(png):
    """How many different colors a PNG of 8 bits per channel has."""
    at, data, head = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    width, height, _, color_type = head
    bytes_per_pixel = {2: 3, 6: 4}[color_type]
    raw, row = zlib.decompress(data), width * bytes_per_pixel
    before, found = bytearray(row), set()
    for y in range(height):
        rule = raw[y * (row + 1)]
        now = bytearray(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
        unfilter(rule, now, before, bytes_per_pixel)
        for x in range(0, row, bytes_per_pixel):
            found.add(bytes(now[x:x + 3]))
        before = now
    return len(found)


def unfilter(rule, now, before, step):
    if rule == 0:
        return
    for x in range(len(now)):
        a = now[x - step] if x >= step else 0
        b = before[x]
        c = before[x - step] if x >= step else 0
        if rule == 1:
            guess = a
        elif rule == 2:
            guess = b
        elif rule == 3:
            guess = (a + b) // 2
        else:
            p = a + b - c
            guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        now[x] = (now[x] + guess) & 255


# What DevTools asks of the page, which has no scripts of its own.
MEASURE = """(() => {
  const box = e => { const r = e.getBoundingClientRect();
                     return [r.x + scrollX, r.y + scrollY, r.width, r.height]; };
  const clash = (a, b) => a[0] < b[0] + b[2] - 1 && b[0] < a[0] + a[2] - 1 &&
                          a[1] < b[1] + b[3] - 2 && b[1] < a[1] + a[3] - 2;
  const wrong = [];
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.getAttribute('aria-label'), frame = box(svg);
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, box(t)]);
    texts.forEach(([text, b], i) => {
      if (b[0] < frame[0] - 1 || b[0] + b[2] > frame[0] + frame[2] + 1 || b[1] < frame[1] - 1 ||
          b[1] + b[3] > frame[1] + frame[3] + 1) wrong.push(`'${text}' leaves the picture '${name}'`);
      texts.slice(i + 1).forEach(([other, c]) => {
        if (clash(b, c)) wrong.push(`'${text}' and '${other}' overlap in '${name}'`); }); });
    if (svg.querySelectorAll('circle,polyline,rect:not(clipPath rect),ellipse').length === 0)
      wrong.push(`nothing is drawn in '${name}'`);
    if (svg.outerHTML.includes('NaN') || svg.outerHTML.includes('inf,')) wrong.push(`no numbers in '${name}'`);
  }
  return JSON.stringify({ text: document.body.innerText, wrong,
    pictures: [...document.querySelectorAll('svg')].map(box),
    width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight,
    window: document.documentElement.clientWidth });
})()"""


def write(name, head, rows):
    with open(name, "w", encoding="ascii") as file:
        file.write(head + "\n")
        for row in rows:
            file.write(",".join(v if isinstance(v, str) else f"{v:.6g}" for v in row) + "\n")


def tables():
    """Name, options of the fit, texts that the page must have, pictures."""
    random.seed(7)
    noise = lambda: random.gauss(0.0, 0.1)
    line = [3.0 * i / 300 for i in range(300)]
    write("one.csv", "time,voltage", [(t, sin(2 * pi * t * t / 2) + noise()) for t in line])
    spots = [(4 * random.random(), 4 * random.random()) for _ in range(400)]
    write("two.csv", "east,north,height",
          [(x, y, 2 * exp(-((x - 1) ** 2 + (y - 3) ** 2)) - exp(-((x - 3) ** 2)) + noise()) for x, y in spots])
    many = [[random.random() for _ in range(5)] for _ in range(300)]
    write("five.csv", "a <b>,frequency_of_the_rotor_in_hertz,c,d,e,pressure & more",
          [r + [1e4 * sin(4 * r[0]) + 9e3 * r[1] ** 2 + 3e3 * r[4] + 100 * noise()] for r in many])
    write("kinds.csv", "u,v,kind",
          [(x, y, "ash" if x + sin(y) < 1.5 else "birch" if x < 3 else "oak") for x, y in spots])
    common = ["A model of", "Kernels", "Certificate", "costs less than D", "integrals", "kernelet fit"]
    function = common + ["root mean squared error", "standard error", "Residuals"]
    return [("one", function + ["voltage", "What each kernel contributes", "α(z, w)", "width w"], 4),
            ("two", function + ["Model and kernels", "north", "lowest", "kernels, at one width"], 3),
            ("five", function + ["a <b>", "pressure & more", "Measured against predicted", "Mean prediction by"], 6),
            ("kinds", common + ["predicted classes", "true \\ predicted", "birch", "ash against oak"], 1)]


def check(browser, page, words, pictures):
    wrong = []
    for theme in THEMES:
        for width in WIDTHS:
            where = f"{page}, {width} wide, {theme}: "
            wrong += [where + w for w in browser.load(page, width, theme)]
            seen = json.loads(browser.evaluate(MEASURE))
            wrong += [where + w for w in seen["wrong"]]
            wrong += [f"{where}lacks the text '{w}'" for w in words if w not in seen["text"]]
            if seen["width"] > seen["window"]:
                wrong.append(f"{where}{seen['width']} wide in a window of {seen['window']}")
            if len(seen["pictures"]) < pictures:
                wrong.append(f"{where}{len(seen['pictures'])} pictures, not {pictures}")
            for number, box in enumerate(seen["pictures"]):
                if min(box[2:]) < 100:
                    wrong.append(f"{where}picture {number + 1} is {box[2]:.0f} x {box[3]:.0f}")
                elif colors_of(browser.picture(box, 0.4)) < 8:
                    wrong.append(f"{where}picture {number + 1} is blank")
            shot = browser.picture([0, 0, width, min(seen["height"], 6000)])
            pathlib.Path(f"{pathlib.Path(page).stem}_{width}_{theme}.png").write_bytes(shot)
    return wrong


def main():
    kernelet, chromium, folder, pages = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    pages = [str(pathlib.Path(p).resolve()) for p in pages]
    kernelet = str(pathlib.Path(kernelet).resolve())
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    work = [(p, [], 1) for p in pages]
    for name, words, pictures in [] if pages else tables():
        for call in (["fit", name + ".csv", "-o", name + ".model"],
                     ["report", name + ".model", name + ".csv", "-o", name + ".html"]):
            subprocess.run([kernelet] + call, check=True, stderr=subprocess.DEVNULL)
        work.append((name + ".html", words, pictures))
    browser = Browser(chromium)
    try:
        wrong = [w for page, words, pictures in work for w in check(browser, page, words, pictures)]
    finally:
        browser.close()
    for line in wrong:
        print("report_in_chromium: " + line, file=sys.stderr)
    if wrong:
        raise SystemExit(1)
    print(f"ok: {len(work)} pages, {len(WIDTHS) * len(THEMES)} views each")


if __name__ == "__main__":
    main()
