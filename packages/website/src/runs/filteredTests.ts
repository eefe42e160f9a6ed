import type { TestEntry } from "@delivery/domain/runs/TestEntry"

const texts = new WeakMap<TestEntry, string>()

/** What the words of a filter are sought in. It is made once for each test. */
const searchText = (test: TestEntry): string => {
  const known = texts.get(test)
  if (known !== undefined) return known
  const text = `${test.title} ${test.file}`.toLowerCase()
  texts.set(test, text)
  return text
}

/** The tests that a filter leaves. */
export const filteredTests = (
  tests: ReadonlyArray<TestEntry>,
  { q = "", status }: { readonly q?: string; readonly status?: TestEntry["status"] }
): ReadonlyArray<TestEntry> => {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  return tests.filter((test) => {
    if (status !== undefined && test.status !== status) return false
    if (words.length === 0) return true
    return words.every((word) => searchText(test).includes(word))
  })
}
