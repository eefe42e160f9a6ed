import { parseEnv } from "node:util"
import { describe, expect, it } from "vitest"
import { readDotEnv } from "../../src/vault/DotEnv.ts"

const read = (text: string) => Object.fromEntries(readDotEnv(text).values)

describe("A .env file", () => {
  it("is read as Node reads it", () => {
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
    for (const file of files) expect([file, read(file)]).toEqual([file, { ...parseEnv(file) }])
  })

  it("names its lines that are nothing", () => {
    expect(readDotEnv("A=1\nnothing\n\n# fine\n=x\nB=2").ignored).toEqual([2, 5])
    expect(readDotEnv('A="two\nlines"\nnothing').ignored).toEqual([3])
  })

  it("names what is there more than once, of which the last counts", () => {
    expect(readDotEnv("A=1\nB=2\nA=3\nexport A=4").repeated).toEqual(["A"])
    expect(readDotEnv("A=1\nB=2").repeated).toEqual([])
  })

  it("has a quote that is never closed as it stands", () => {
    expect(read('A="open\nB=2')).toEqual({ A: '"open', B: "2" })
  })
})
