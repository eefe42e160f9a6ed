import { isFinding, notApplicable, reasonOf, runConformance, suiteVersion } from "./McpConformance.ts"

/** Prints what MCP's conformance suite finds, as it stands in docs/measurements.md: `pnpm conformance`. */

const print = (line = ""): void => void process.stdout.write(`${line}\n`)

const results = await runConformance()
let failed = 0

print(`@modelcontextprotocol/conformance ${suiteVersion}, \`/agent/mcp\``)
print()
print("| Revision | Passed | Not applicable | Skipped by the suite | Failed |")
print("| --- | --- | --- | --- | --- |")
for (const [revision, checks] of results) {
  const findings = checks.filter(isFinding)
  const faults = findings.filter((check) => reasonOf(check) === undefined)
  failed += faults.length
  const counts = [
    checks.filter(({ status }) => status === "SUCCESS").length,
    findings.length - faults.length,
    checks.filter(({ status }) => status === "SKIPPED").length,
    faults.length
  ]
  print(`| ${[revision, ...counts].join(" | ")} |`)
}

print()
print("Scenarios of which every check passes:")
for (const [revision, checks] of results) {
  const found = new Set(checks.filter(isFinding).map(({ scenario }) => scenario))
  const passed = new Set(checks.filter(({ status }) => status === "SUCCESS").map(({ scenario }) => scenario))
  print(`- ${revision}: ${[...passed].filter((scenario) => !found.has(scenario)).join(", ")}`)
}

for (const { checks, reason } of notApplicable) {
  print()
  print(`Not applicable: ${reason}: ${checks.join(", ")}`)
}

for (const [revision, checks] of results) {
  for (const check of checks) {
    if (!isFinding(check) || reasonOf(check) !== undefined) continue
    print()
    print(`FAILED ${revision} ${check.scenario}: ${check.id}: ${check.errorMessage ?? ""}`)
  }
}
process.exitCode = failed === 0 ? 0 : 1
