import { lineMentioning, mentionsIn } from "@delivery/domain/planning/Mentions"
import type { PersonId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { Worker } from "node:worker_threads"

const id = (n: number) => `0197a1b2-0000-7000-8000-${String(n).padStart(12, "0")}`
const ana = `[@Ana](user:${id(1)})`
const claude = `[@Claude](agent:${id(2)})`
const users = (markdown: string) => mentionsIn(markdown).users.map((user) => Number(user.slice(-12)))

describe("lineMentioning", () => {
  const lineOf = (markdown: string, n = 1) => lineMentioning(markdown, id(n) as PersonId, 100)

  it("is the line of the first mention", () => {
    assert.strictEqual(lineOf(`Steps:\r\n- ${ana} looks\r\n- ${ana} decides`), `- ${ana} looks`)
    assert.strictEqual(lineOf(ana), ana)
    assert.isUndefined(lineOf(`Nobody but ${ana}`, 3))
  })

  it("is what is around the mention where the line is long", () => {
    const long = "\u{1f600}".repeat(200)
    const line = lineOf(`before\n${long}${ana} looks${long}\nafter`)!
    assert.isTrue(line.startsWith("…\u{1f600}"))
    assert.include(line, `${ana} looks`)
    assert.isTrue(line.isWellFormed())
    assert.strictEqual([...line].length, 100)
    assert.strictEqual(lineOf(`${ana}${"x".repeat(200)}`), `${ana}${"x".repeat(100 - ana.length)}`)
  })
})

describe("mentionsIn", () => {
  it("finds persons and agents, each once, in the order of the text", () => {
    assert.deepStrictEqual<unknown>(
      mentionsIn(`${claude} asks [@Bo](user:${id(3)}), then ${ana}, ${claude} again and [@A.](user:${id(3)})`),
      { users: [id(3), id(1)], agents: [id(2)] }
    )
    assert.deepStrictEqual<unknown>(mentionsIn("Nobody, see [the docs](https://example.com)"), {
      users: [],
      agents: []
    })
  })

  it("reads links wherever Markdown has them", () => {
    for (const text of [
      ana,
      `(${ana})`,
      `${ana}'s`,
      `- ${ana}`,
      `1. one\n   ${ana}`,
      `> quoted ${ana}`,
      `# ${ana}`,
      `| a | ${ana} |`,
      `**${ana}**`,
      `[@Ana \\] Maria](user:${id(1)})`,
      `[@Ana](USER:${id(1).toUpperCase()})`,
      `[@](user:${id(1)})`,
      `[@Ana](user:${id(1)})(user:${id(2)})`,
      `[[@Ana](user:${id(1)})`,
      `\\\\${ana}`,
      `a ! ${ana}`,
      `line one\r\n${ana}`
    ]) {
      assert.deepStrictEqual(users(text), [1], text)
    }
  })

  it("reads nothing else", () => {
    for (const text of [
      `\\${ana}`,
      `!${ana}`,
      `[Ana](user:${id(1)})`,
      `[@Ana] (user:${id(1)})`,
      `[@Ana](person:${id(1)})`,
      `[@Ana](user:${id(1).slice(1)})`,
      `[@Ana](user:${"-".repeat(36)})`,
      `[@Ana](user:${id(1)} "title")`,
      `[@A[b](user:${id(1)})`,
      `@Ana (user:${id(1)})`,
      `user:${id(1)}`
    ]) {
      assert.deepStrictEqual(users(text), [], text)
    }
  })

  it("finds no mentions in code spans", () => {
    for (const text of [`\`${ana}\``, `\`\`a \` ${ana} b\`\``, `a \`x\ny ${ana}\``, `[@Ana \`](user:${id(1)})\``]) {
      assert.deepStrictEqual(users(text), [], text)
    }
    for (const text of [
      `\` ${ana}`,
      `\`\`a\` ${ana}`,
      `\\\`${ana}\``,
      `\`a\\\`${ana}`,
      `\`a\`${ana}\`b\``,
      // A span ends with its paragraph, item, heading or row.
      `\`a\n\n${ana}\``,
      `- \`a\n- ${ana}\``,
      `1. \`a\n2. ${ana}\``,
      `# \`a\n${ana}\``,
      `\`a\n# b\n${ana}\``,
      `| \`a |\n| ${ana}\` |`
    ]) {
      assert.deepStrictEqual(users(text), [1], text)
    }
  })

  it("finds no mentions in fenced code", () => {
    for (const text of [
      `\`\`\`\n${ana}\n\`\`\``,
      `\`\`\`md\n${ana}`,
      `~~~ \`a\`\n${ana}\n~~~`,
      `\`\`\`\`\n\`\`\`\n${ana}\n\`\`\`\``,
      `\`\`\`\n~~~\n${ana}\n\`\`\``,
      `- item\n  \`\`\`\n  ${ana}\n  \`\`\``,
      `- \`\`\`\n  ${ana}\n  \`\`\``,
      `> \`\`\`\n> ${ana}\n> \`\`\``,
      `\`\`\`\n\n${ana}\n\`\`\``
    ]) {
      assert.deepStrictEqual(users(text), [], text)
    }
    for (const text of [
      `\`\`\`\na\n\`\`\`\n${ana}`,
      `\`\`\`\na\n\`\`\`\`\n${ana}`,
      `~~~\na\n~~~  \n${ana}`,
      `\`\`\`a\`b\n${ana}`,
      `> \`\`\`\n> a\n${ana}`,
      `before\n${ana}\n\`\`\`\na\n\`\`\``
    ]) {
      assert.deepStrictEqual(users(text), [1], text)
    }
  })

  it("reads the most awkward texts in steps that grow as they do", async ({ onTestFinished }) => {
    const parts = ["`", "[@", "[@a](user:", "\\", "`a``b```", "> ", "- ", "# `\n", "```\n", "![", "|\n"]
    // Twenty times the longest comment. Steps that grow with the square of it would take hours, and end with the thread.
    const texts = parts.map((part) => part.repeat(Math.floor(2_000_000 / part.length)))
    const reader = new Worker(new URL("./MentionsReader.ts", import.meta.url), { workerData: texts })
    onTestFinished(async () => void (await reader.terminate()))
    const [mentions] = (await once(reader, "message")) as [ReadonlyArray<ReturnType<typeof mentionsIn>>]
    assert.deepStrictEqual(
      mentions,
      texts.map(() => ({ users: [], agents: [] }))
    )
    assert.deepStrictEqual(users(ana.repeat(1_900)), [1])
  })
})
