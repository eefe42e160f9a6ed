import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { waysOf } from "../../src/deploy/lines.ts"
import { gitLab, workflowWays } from "../../src/identity/workflowLines.ts"

const docs = (name: string) => readFileSync(join(import.meta.dirname, "../../../../docs", name), "utf8")
const serviceUrl = "https://delivery.example.com"

describe("The lines to paste", () => {
  const linesOf = (way: string) => waysOf({ serviceUrl, product: "shop" }).find(({ name }) => name === way)!.lines

  it("are those of the docs, which a test runs", () => {
    const secrets = docs("secrets.md")
    for (const [way, label] of [
      ["Docker", /^compose\.yaml/],
      ["Kubernetes", /^Give it/],
      ["Kubernetes", /^shop\.yaml/],
      ["systemd", /^shop\.service/]
    ] as const) {
      const { text } = linesOf(way).find((one) => label.test(one.label))!
      expect(secrets).toContain(text)
    }
  })

  it("keep the token out of what they are pasted into", () => {
    for (const { lines } of waysOf({ serviceUrl, product: "shop" })) {
      expect(lines[0]!.text).toContain("read -rs token")
      expect(lines.map(({ text }) => text).join("\n")).not.toContain("dtk_")
    }
  })

  it("of a workflow are those of the docs, that of the publisher first", () => {
    const target = { serviceUrl, slug: "main", product: "shop", environment: "staging" }
    const ci = docs("ci.md")
    const [gitHubWay, gitLabWay] = workflowWays(target)
    expect(ci).toContain(gitHubWay!.lines[0]!.text)
    for (const part of gitLabWay!.lines[0]!.text.split("\n")) expect(ci).toContain(part)
    expect(workflowWays(target, gitLab).map(({ name }) => name)).toEqual(["GitLab", "GitHub Actions"])
  })
})
