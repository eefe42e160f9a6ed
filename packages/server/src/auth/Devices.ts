const browsers = [
  ["Edge", /\bEdg(?:A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//]
] as const

const systems = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["Linux", /\bLinux\b/]
] as const

type Names = ReadonlyArray<readonly [name: string, pattern: RegExp]>

const nameIn = (names: Names, text: string) => names.find(([, pattern]) => pattern.test(text))?.[0]

/** A browser and its system in words, such as "Firefox on Linux", from the header `User-Agent`. It is a hint: anybody may send anything. */
export const deviceOf = (userAgent: string | undefined): string => {
  const browser = nameIn(browsers, userAgent ?? "") ?? "Unknown browser"
  const system = nameIn(systems, userAgent ?? "")
  return system === undefined ? browser : `${browser} on ${system}`
}
