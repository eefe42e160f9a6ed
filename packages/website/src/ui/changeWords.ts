/** What the API calls fields and their values, in the words of the screens. Pure. */

const fields: Readonly<Record<string, string>> = {
  allowPullRequests: "for pull requests",
  attachment: "file",
  baseUrl: "base URL",
  blocks: "blocks releases",
  cases: "tests",
  counts: "tests",
  drift: "drift of secrets",
  expiresAt: "expires",
  fileDays: "days that files are kept",
  fixtureUrl: "fixture URL",
  flakyCount: "flaky tests",
  freezes: "freeze window",
  from: "versions from",
  gateResult: "result for the gate",
  isDefault: "default",
  mutes: "overdue mutes",
  passes: "runs to pass in",
  requires: "required runs",
  runDays: "days that runs are kept",
  serverUrl: "server URL"
}

const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  completion: { free: "by anybody", evidence: "only with evidence" }
}

const truths: Readonly<Record<string, string>> = { true: "yes", false: "no" }

/** Names are those of the API, and values may be anything. */
const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** The API's `repositoryId` is "repository id" for people, and `environments.staging.version` "staging version". */
export const fieldWords = (field: string): string =>
  own(fields, field) ??
  field
    .replace(/^environments\.(.+)\./, "$1 ")
    .replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)

export const valueWords = (field: string, value: string): string =>
  own(own(values, field) ?? {}, value) ?? own(truths, value) ?? value
