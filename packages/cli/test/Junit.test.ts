import { maxTestsPerRun, TestReport } from "@delivery/domain/runs/TestEntry"
import { Schema } from "effect"
import {
  mkdtempSync,
  openSync,
  closeSync,
  ftruncateSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { lastEnd, type Result, testReports } from "../src/results/Result.ts"
import { maxResultBytes, readResults } from "../src/results/ResultFiles.ts"
import { readXml } from "../src/results/Xml.ts"

/** Files of results, as test runners write them, become tests of a run. */

const now = Date.parse("2026-11-21T09:30:00.000Z")
const fixtures = join(import.meta.dirname, "junit")
const directory = mkdtempSync(join(tmpdir(), "delivery-results-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let count = 0
const fileOf = (content: string | Uint8Array) => {
  const file = join(directory, `${++count}.xml`)
  writeFileSync(file, content)
  return file
}
const testsIn = async (file: string) => {
  const { errors, tests } = await readResults(file, now)
  assert.deepStrictEqual(errors, [])
  return tests
}
const read = (content: string | Uint8Array) => testsIn(fileOf(content))
const fixture = (name: string) => testsIn(join(fixtures, name))
/** What a file has failed with outside of its tests. */
const errorsOf = async (content: string) => {
  const file = fileOf(content)
  const { errors } = await readResults(file, now)
  return errors.map((error) => error.replace(basename(file), "results.xml"))
}
const refusal = (content: string | Uint8Array): Promise<string> =>
  read(content).then(
    () => assert.fail("It was read."),
    (error: Error) => error.message
  )

type Row = readonly [name: string, status: string, millis: number, message: string | undefined]

const entities: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }
const decoded = (text: string) =>
  text.replaceAll(/&(#?\w+);/g, (_, name: string) =>
    name.startsWith("#") ? String.fromCodePoint(Number(name.slice(1))) : entities[name]!
  )
const attribute = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return found === undefined ? undefined : decoded(found)
}

/** A reading that shares nothing with the command's: the text of each test case between its tags, by patterns. */
const independently = (xml: string): Array<Row> =>
  [...xml.replaceAll(/<!\[CDATA\[[^]*?\]\]>/g, "").matchAll(/<testcase\b([^>]*?)(\/>|>([^]*?)<\/testcase>)/g)].map(
    ([, tag = "", , inside = ""]) => {
      const failed = /<((?:failure|error|flakyFailure|flakyError)\b[^>]*)>/.exec(inside)?.[1]
      const isSkipped = failed === undefined && inside.includes("<skipped")
      return [
        attribute(tag, "name")!,
        failed === undefined ? (isSkipped ? "skipped" : "passed") : "failed",
        isSkipped ? 0 : Math.round(Number(attribute(tag, "time")) * 1_000),
        failed === undefined ? undefined : attribute(failed, "message")
      ]
    }
  )

const rowOf = ({ attempt, id }: Result): Row => [
  id.at(-1)!,
  attempt?.status ?? "skipped",
  attempt === null || attempt.status === "skipped" ? 0 : attempt.durationMs,
  attempt?.status === "failed" ? (attempt.errorMessage ?? undefined) : undefined
]

const countsOf = (results: ReadonlyArray<Result>) => {
  const statuses = results.map(({ attempt }) => attempt?.status ?? "skipped")
  return ["passed", "failed", "skipped"].map((status) => statuses.filter((one) => one === status).length)
}

describe("JUnit XML", () => {
  it("reads the files of six test runners as an independent reading does", async () => {
    const files = readdirSync(fixtures).filter((name) => name.endsWith(".xml"))
    assert.lengthOf(files, 6)
    for (const name of files) {
      const results = await fixture(name)
      assert.deepStrictEqual(results.map(rowOf), independently(readFileSync(join(fixtures, name), "utf8")), name)
      const tests = testReports(results, "regression")
      assert.strictEqual(new Set(tests.map(({ caseId }) => caseId)).size, tests.length, name)
      for (const test of tests) Schema.decodeUnknownSync(TestReport)(test)
    }
  })

  it("counts elements, whatever the attributes of the files say", async () => {
    assert.deepStrictEqual(countsOf(await fixture("pytest.xml")), [6, 2, 2])
    assert.deepStrictEqual(countsOf(await fixture("jest.xml")), [10, 0, 0])
    assert.deepStrictEqual(countsOf(await fixture("go.xml")), [2, 2, 1])
    assert.deepStrictEqual(countsOf(await fixture("maven-surefire.xml")), [0, 4, 0])
    assert.deepStrictEqual(countsOf(await fixture("gradle.xml")), [2, 1, 0])
    assert.deepStrictEqual(countsOf(await fixture("cypress.xml")), [3, 0, 0])
  })

  it("takes the first attempt of a test that the tool repeated", async () => {
    const attempts = new Map((await fixture("maven-surefire.xml")).map(({ attempt, title }) => [title, attempt]))
    const flaky = attempts.get("example.ExampleTests › throwsOnlyFirstAttempt")
    assert.strictEqual(flaky?.status, "failed")
    assert.include(flaky, { errorMessage: "First attempt throws exception", durationMs: 1 })
    assert.match(String("errorStack" in flaky! && flaky.errorStack), /^java\.lang\.RuntimeException: First attempt/)
  })

  it("has the errors of suites, whatever their tests did", async () => {
    assert.deepStrictEqual(
      await errorsOf(`
        <testsuites tests="2" errors="1">
          <failure>no stack</failure>
          <testsuite name="s" tests="1" errors="1">
            <error message="set-up broke"/>
            <testcase name="a" classname="s"/>
            <testsuite name="inner">
              <error message="too late">Error: too late\n  at shop.ts:3</error>
              <failure message="expected 1">at shop.ts:4</failure>
              <error/>
              <testcase name="b"><failure message="its own"/></testcase>
            </testsuite>
          </testsuite>
        </testsuites>`),
      [
        "no stack",
        "set-up broke",
        "Error: too late\n  at shop.ts:3",
        "expected 1\n\nat shop.ts:4",
        "results.xml has an error without a text in inner."
      ]
    )
    assert.deepStrictEqual(await errorsOf("<testsuite><error type='java.lang.Error'/></testsuite>"), [
      "java.lang.Error"
    ])
  })

  it("believes counts of failures where none is listed", async () => {
    const passed = '<testcase name="a"/>'
    const failed = '<testcase name="b"><failure/></testcase>'
    for (const [xml, ...errors] of [
      [
        `<testsuite name="s" tests="5" failures="2" errors="1">${passed}</testsuite>`,
        "results.xml says 3 failed in s, and lists none of them."
      ],
      // A sum that the suites inside have as well is said once.
      [
        `<testsuites failures="3"><testsuite name="s" failures="1">${passed}</testsuite><testsuite failures="2"/></testsuites>`,
        "results.xml says 3 failed, and lists none of them."
      ],
      // Another suite lists its own.
      [
        `<testsuites failures="2"><testsuite failures="1">${failed}</testsuite><testsuite name="s" errors="1">${passed}</testsuite></testsuites>`,
        "results.xml says 1 failed in s, and lists no failure."
      ],
      // Newman has the errors of requests in a text.
      [
        `<testsuites><testsuite name="s" errors="1"><system-err>ECONNREFUSED</system-err>${passed}</testsuite></testsuites>`,
        "results.xml says 1 failed in s, and lists no failure."
      ],
      // Listed, in whatever numbers: parents sum up, some tools count assertions, and reruns, and a test that failed twice.
      [`<testsuite failures="1"><testsuite failures="1">${failed}</testsuite></testsuite>`],
      [`<testsuite failures="9" errors="9">${failed}${passed}</testsuite>`],
      [`<testsuite failures="1" flakes="1"><testcase name="a"><flakyFailure/></testcase></testsuite>`],
      [`<testsuite failures="1" errors="1"><testcase name="a"><failure/><error/></testcase></testsuite>`],
      // gotestsum counts what was written to stderr.
      [
        `<testsuites tests="1" failures="0" errors="4"><testsuite tests="1" failures="0">${passed}</testsuite></testsuites>`
      ],
      [`<testsuite tests="7" failures="" errors="x" skipped="3" disabled="2" warnings="4">${passed}</testsuite>`],
      [`<testsuite failures="-1" errors="0">${passed}</testsuite>`]
    ] as const) {
      assert.deepStrictEqual(await errorsOf(xml), errors, xml)
    }
  })

  it("names tests so that those of other files differ, and the same test is the same in every run", async () => {
    const jest = testReports(await fixture("jest.xml"), "regression")
    assert.strictEqual(jest[0]!.caseId, "components/layouts/loading/snapshot.test.tsx › Renders correctly")
    assert.strictEqual(jest[0]!.file, "components/layouts/loading/snapshot.test.tsx")
    const [cypress] = await fixture("cypress.xml")
    assert.strictEqual(cypress!.file, "cypress/integration/examples/window.spec.js")
    const twice = testReports(
      await read('<testsuite name="S"><testcase name="t"/><testcase name="t"/><testcase name="t (2)"/></testsuite>'),
      "critical"
    )
    assert.deepStrictEqual(
      twice.map(({ caseId }) => caseId),
      ["S › t", "S › t (2)", "S › t (2) (2)"]
    )
    const long = testReports(await read(`<testsuite><testcase name="${"é".repeat(5_000)}"/></testsuite>`), "critical")
    Schema.decodeUnknownSync(TestReport)(long[0])
  })

  it("says when tests began, as far as the file knows", async () => {
    const startsOf = async (xml: string) =>
      (await read(xml)).map(({ attempt }) => attempt !== null && "startedAt" in attempt && attempt.startedAt)
    assert.deepStrictEqual(
      await startsOf(
        '<testsuite timestamp="2026-01-02T03:04:05"><testcase name="a" time="1.5"/><testcase name="b" time="1,000.0"/><testcase name="c" time="x"/><testcase name="d" timestamp="2026-01-02T05:04:05+01:00"/></testsuite>'
      ),
      ["2026-01-02T03:04:05.000Z", "2026-01-02T03:04:06.500Z", "2026-01-02T03:20:46.500Z", "2026-01-02T04:04:05.000Z"]
    )
    assert.deepStrictEqual(await startsOf('<testsuite timestamp="soon"><testcase name="a"/></testsuite>'), [
      "2026-11-21T09:30:00.000Z"
    ])
  })

  it("takes a time without an offset for the later of UTC and that of the machine, but not for one to come", async () => {
    const startOf = async (timestamp: string) => {
      const { tests } = await readResults(
        fileOf(`<testsuite timestamp="${timestamp}"><testcase name="a"/></testsuite>`),
        now
      )
      const attempt = tests[0]?.attempt
      return attempt != null && "startedAt" in attempt && attempt.startedAt
    }
    const zone = process.env["TZ"]
    try {
      process.env["TZ"] = "America/New_York"
      assert.strictEqual(await startOf("2026-11-21T04:00:00"), "2026-11-21T09:00:00.000Z")
      assert.strictEqual(await startOf("2026-11-21T05:00:00"), "2026-11-21T05:00:00.000Z")
      assert.strictEqual(await startOf("2026-11-21T04:00:00Z"), "2026-11-21T04:00:00.000Z")
      process.env["TZ"] = "Asia/Tokyo"
      assert.strictEqual(await startOf("2026-11-21T09:00:00"), "2026-11-21T09:00:00.000Z")
    } finally {
      if (zone === undefined) delete process.env["TZ"]
      else process.env["TZ"] = zone
    }
    // A day is as long as it can be.
    assert.strictEqual(await startOf("2026-11-21"), "2026-11-21T09:30:00.000Z")
    assert.strictEqual(await startOf("2026-11-20"), "2026-11-21T00:00:00.000Z")
  })

  it("says when the last test that ran ended, a day without a time at its end", async () => {
    const ended = async (xml: string) => {
      const end = lastEnd((await readResults(fileOf(xml), now)).tests)
      return end === undefined ? undefined : new Date(end).toISOString()
    }
    const tests =
      '<testcase name="a" time="1.5"/><testcase name="b" time="2"/><testcase name="c" timestamp="2026-01-03T00:00:00Z"><skipped/></testcase>'
    assert.strictEqual(
      await ended(`<testsuite timestamp="2026-01-02T03:04:05Z">${tests}</testsuite>`),
      "2026-01-02T03:04:08.500Z"
    )
    assert.strictEqual(
      await ended(`<testsuite timestamp="2026-01-02">${tests}</testsuite>`),
      "2026-01-03T00:00:03.500Z"
    )
    assert.strictEqual(await ended(`<testsuite>${tests}</testsuite>`), undefined)
  })

  it("reads other encodings, prefixes and skips of GoogleTest, and keeps colours out of messages", async () => {
    const utf16 = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('<?xml version="1.0" encoding="UTF-16"?><testsuite><testcase name="ü"/></testsuite>', "utf16le")
    ])
    assert.strictEqual((await read(utf16))[0]!.title, "ü")
    const latin = '<?xml version="1.0" encoding="ISO-8859-1"?><testsuite><testcase name="ü"/></testsuite>'
    assert.strictEqual((await read(Buffer.from(latin, "latin1")))[0]!.title, "ü")
    const [first, second] = await read(
      '<j:testsuites xmlns:j="urn:j"><j:testsuite><j:testcase name="a" status="notrun"/><j:testcase name="b"><j:failure>&#27;[31mred\nmore</j:failure></j:testcase></j:testsuite></j:testsuites>'.replace(
        "&#27;[31m",
        ""
      )
    )
    assert.isNull(first!.attempt)
    assert.include(second!.attempt, { status: "failed", errorMessage: "red", errorStack: "red\nmore" })
  })

  it("refuses hostile and broken files in a sentence", async () => {
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join("")
    const docType = "it has a document type, which can define entities, and results have none."
    assert.strictEqual(
      await refusal(`<!DOCTYPE t [<!ENTITY l0 "lol">${laughs}]><testsuite><testcase name="&l9;"/></testsuite>`),
      docType
    )
    assert.strictEqual(
      await refusal('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite>&x;</testsuite>'),
      docType
    )
    for (const broken of [
      "<testsuite><testcase>",
      "<testsuite></testcase>",
      '<testsuite name="&unknown;"/>',
      "<testsuite/><testsuite/>",
      "",
      "not XML"
    ]) {
      assert.match(await refusal(broken), /^it is not well-formed XML: |^it has no element\.$/, broken)
    }
    assert.strictEqual(await refusal("<html/>"), "it is not JUnit XML: its first element is <html>.")
    assert.strictEqual(await refusal(`${"<testsuite>".repeat(200_000)}`), "its elements are more than 100 deep.")
    assert.strictEqual(await refusal(Buffer.from([0x3c, 0xff, 0xfe, 0x3e])), "its text is not utf-8.")
    assert.strictEqual(
      await refusal('<?xml version="1.0" encoding="klingon"?><testsuite/>'),
      "its text is not klingon."
    )
  })

  it("refuses a file of 100 MB by its size, without reading it", async () => {
    const file = join(directory, "large.xml")
    const handle = openSync(file, "w")
    ftruncateSync(handle, 100_000_000)
    closeSync(handle)
    assert.isBelow(maxResultBytes, 100_000_000)
    const message = await readResults(file, now).then(
      () => assert.fail("It was read."),
      (error: Error) => error.message
    )
    assert.strictEqual(message, "it is longer than 50 MiB.")
    const missing = await readResults(join(directory, "missing.xml"), now).catch((error: Error) => error.message)
    assert.strictEqual(missing, "it cannot be opened.")
  })

  it("keeps nothing of elements that it does not need", () => {
    const root = readXml("<a><b><c>no</c><d/></b><d>yes<e>no</e> too</d></a>", new Set(["d"]), new Set(["d"]))
    assert.deepEqual(root, {
      name: "a",
      attributes: {},
      text: "",
      children: [{ name: "d", attributes: {}, children: [], text: "yes too" }]
    })
  })

  it("reads more tests than a run takes", async () => {
    const cases = Array.from({ length: maxTestsPerRun + 1 }, (_, n) => `<testcase name="${n}"/>`).join("")
    assert.lengthOf(await read(`<testsuite>${cases}</testsuite>`), maxTestsPerRun + 1)
  })
})

describe("Playwright's JSON report", () => {
  it("becomes the tests that the reporter would publish, by their first attempts", async () => {
    const results = await testsIn(join(import.meta.dirname, "playwright-report.json"))
    const tests = testReports(results, "regression")
    for (const test of tests) Schema.decodeUnknownSync(TestReport)(test)
    assert.deepStrictEqual(
      tests.map(({ attempt, caseId }) => [caseId, attempt?.status ?? "skipped"]),
      [
        ["pays by card", "passed"],
        ["pays by invoice", "failed"],
        ["pays on the second try", "failed"],
        ["pays in cash", "skipped"],
        ["is known to fail", "passed"]
      ].flatMap(([title, status]) =>
        ["one", "two"].map((project) => [`checkout.spec.ts › Checkout › ${title} [${project}]`, status])
      )
    )
    const failed = tests[2]?.attempt
    assert.isTrue(failed?.status === "failed")
    if (failed?.status === "failed")
      assert.match(failed.errorMessage ?? "", /^Error: expect\(received\)\.toBe\(expected\)/)
  })

  it("has the errors outside of its tests, and fails where they were interrupted", async () => {
    const ending = (...statuses: ReadonlyArray<string>) => {
      const results = statuses.map((status) => ({ status, duration: 1, startTime: "2026-11-21T09:30:00.000Z" }))
      return [{ title: "", specs: [{ title: "a", file: "a", tests: [{ expectedStatus: "passed", results }] }] }]
    }
    const errors = [{ message: "\u001b[31mError: no database\u001b[39m", stack: "at" }, { value: "thrown" }, {}]
    const report = (value: object) => errorsOf(JSON.stringify(value))
    assert.deepStrictEqual(await report({ suites: ending("passed"), errors }), ["Error: no database", "thrown"])
    assert.deepStrictEqual(await report({ suites: ending("interrupted"), errors }), ["Error: no database", "thrown"])
    assert.deepStrictEqual(await report({ suites: ending("interrupted"), errors: [] }), ["The tests were interrupted."])
    assert.deepStrictEqual(await report({ suites: ending("passed"), errors: [] }), [])
  })

  it("is refused where it is other JSON", async () => {
    const sentence = "it is JSON, but not a report of Playwright's `json` reporter."
    for (const text of ["{}", '{"suites": 3}', '{"suites": [{"title": "a", "specs": [{}]}]}']) {
      assert.strictEqual(await refusal(text), sentence)
    }
  })

  it("is refused where it was cut off", async () => {
    assert.match(await refusal('{"suites": ['), /^it is not whole JSON: /)
  })
})
