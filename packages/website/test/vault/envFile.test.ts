import { describe, expect, it } from "vitest"
import { parseEnv as nodeParses } from "node:util"
import { changeOf, parseEnv } from "../../src/vault/envFile.ts"

const read = (text: string) => Object.fromEntries(parseEnv(text).values)

describe("Pasted .env files", () => {
  it("reads what Node reads", () => {
    const files = [
      "A=1\nB=two words\n",
      "A = 1 \n\n# comment\nB=2 # comment\n",
      "A='single $x # y'\nB=\"double # z\"\n",
      'A="two\nlines"\nB=after\n',
      "export A=1\r\nB=2\r\n",
      "A=\nB=''\n",
      "A=first\nA=second",
      'URL=postgres://u:p@h/db?a=b&c=d\nKEY="-----BEGIN\nabc=\n-----END"\n'
    ]
    for (const file of files) expect([file, read(file)]).toEqual([file, { ...nodeParses(file) }])
  })

  it("names the lines that are nothing", () => {
    expect(parseEnv("A=1\nnothing\n\n# fine\n=x\nB=2").ignored).toEqual([2, 5])
    expect(parseEnv('A="two\nlines"\nnothing').ignored).toEqual([3])
  })

  it("takes a quote that is never closed as it stands", () => {
    expect(read('A="open\nB=2')).toEqual({ A: '"open', B: "2" })
  })

  it("says what a value would do", () => {
    const present = { hasValue: true, value: "old", version: 1 }
    expect(changeOf("x", undefined)).toBe("added")
    expect(changeOf("x", { ...present, hasValue: false, value: null })).toBe("added")
    expect(changeOf("old", present)).toBe("same")
    expect(changeOf("new", present)).toBe("changed")
    expect(changeOf("new", { ...present, value: null })).toBe("unknown")
  })
})
