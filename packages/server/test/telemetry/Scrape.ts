import parse from "parse-prometheus-text-format"
import { assert } from "vitest"

type Labels = Readonly<Record<string, string>>

/** What a scrape tells, read by a parser of the format and held to what Prometheus asks of it. */
export interface Scrape {
  readonly text: string
  /** The one series with these labels and no others. A histogram has `_count`, `_sum` and `_bucket` with `le`. */
  readonly value: (name: string, labels?: Labels) => number | undefined
  /** The labels of all series of the name. */
  readonly series: (name: string) => ReadonlyArray<Labels>
}

/** The sum over all series of a name: one of each worker, where there are several. */
export const total = (scrape: Scrape, name: string): number =>
  scrape.series(name).reduce((sum, labels) => sum + scrape.value(name, labels)!, 0)

export const scrape = async (baseUrl: string): Promise<Scrape> => {
  const response = await fetch(`${baseUrl}/metrics`)
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
  return readScrape(text)
}

const key = (labels: Labels): string => JSON.stringify(Object.entries(labels).toSorted())

const readScrape = (text: string): Scrape => {
  const types = assertHeads(text)
  const families = new Map<string, Map<string, { readonly labels: Labels; readonly value: number }>>()
  for (const { metrics, name } of parse(text.replaceAll(/^# TYPE \S+ histogram\n/gm, ""))) {
    // Heads of histograms, whose samples have other names.
    if (metrics.length === 0) continue
    const series = families.get(name) ?? new Map<string, { readonly labels: Labels; readonly value: number }>()
    for (const { labels = {}, value } of metrics) {
      assert.match(value, /^(\+Inf|-Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)$/, name)
      assert.isFalse(series.has(key(labels)), `${name} ${key(labels)} stands in two places`)
      for (const [label, value] of Object.entries(labels)) {
        assert.match(label, /^[a-z_]+$/)
        // Of few values: no ids, paths or names that callers chose.
        assert.match(value, /^[A-Za-z0-9._+]{1,60}$/)
      }
      series.set(key(labels), { labels, value: Number(value) })
    }
    families.set(name, series)
  }
  const scrape: Scrape = {
    text,
    value: (name, labels = {}) => families.get(name)?.get(key(labels))?.value,
    series: (name) => [...(families.get(name)?.values() ?? [])].map(({ labels }) => labels)
  }
  assertKinds(scrape, types, families.keys())
  return scrape
}

/** Each family has one help and one type, then its samples, all in one place. Answers the types. */
const assertHeads = (text: string): ReadonlyMap<string, string> => {
  assert.isTrue(text.endsWith("\n"))
  const types = new Map<string, string>()
  let before = ""
  for (const line of text.trimEnd().split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (line.startsWith("#") && type === null) assert.match(line, /^# HELP [a-z0-9_]+ \S/)
    if (type !== null) {
      const [, name = "", kind = ""] = type
      assert.isTrue(before.startsWith(`# HELP ${name} `), line)
      assert.isFalse(types.has(name), line)
      types.set(name, kind)
    }
    if (!line.startsWith("#")) {
      const [family = "", kind] = [...types].at(-1) ?? []
      const suffix = kind === "histogram" ? "(_bucket|_sum|_count)" : ""
      assert.match(line, new RegExp(`^${family}${suffix}[{ ]`))
    }
    before = line
  }
  return types
}

const assertKinds = (scrape: Scrape, types: ReadonlyMap<string, string>, names: Iterable<string>): void => {
  const untyped = new Set(names)
  for (const [name, kind] of types) {
    assert.match(name, /^(delivery|nodejs|process)_[a-z0-9_]+$/)
    assert.strictEqual(name.endsWith("_total"), kind === "counter", name)
    if (kind === "counter") for (const labels of scrape.series(name)) assert.isAtLeast(scrape.value(name, labels)!, 0)
    if (kind !== "histogram") {
      assert.isTrue(untyped.delete(name), name)
      continue
    }
    assert.match(name, /_seconds$/)
    for (const suffix of ["_count", "_sum", "_bucket"]) assert.isTrue(untyped.delete(`${name}${suffix}`), name)
    assert.strictEqual(scrape.series(`${name}_sum`).length, scrape.series(`${name}_count`).length)
    for (const labels of scrape.series(`${name}_count`)) {
      const buckets = scrape
        .series(`${name}_bucket`)
        .filter(({ le: _, ...rest }) => key(rest) === key(labels))
        .map(
          (all) => [all["le"] === "+Inf" ? Infinity : Number(all["le"]), scrape.value(`${name}_bucket`, all)!] as const
        )
        .toSorted(([a], [b]) => a - b)
      assert.isAbove(buckets.length, 2, name)
      assert.deepStrictEqual(buckets.at(-1), [Infinity, scrape.value(`${name}_count`, labels)!])
      for (let i = 1; i < buckets.length; i++) assert.isAtLeast(buckets[i]![1], buckets[i - 1]![1], name)
    }
  }
  assert.deepStrictEqual([...untyped], [], "every sample has a type")
}
