import {
  Email,
  firstCharacters,
  fits,
  HttpUrl,
  isId,
  isSlug,
  Name,
  Ref,
  Slug,
  Text,
  VisibleName,
  withoutTokens
} from "@delivery/domain/Text"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"

const [high, low] = ["\ud83d", "\ude80"]
const id = "0197a1b2-0000-7000-8000-00000000000a"

/** What a text becomes; undefined where it is refused. */
const decode = (schema: Schema.ConstraintDecoder<string>) => (text: unknown) =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(text))

describe("Slug", () => {
  const slug = decode(Slug)

  it("takes lower-case letters and digits with single hyphens between them", () => {
    for (const text of ["a", "0", "shop", "web-shop", "a-1-b-2", "2024", "a".repeat(60), `a${"-a".repeat(29)}`]) {
      assert.strictEqual(slug(text), text)
      assert.isTrue(isSlug(text), text)
    }
  })

  it("refuses everything else, and trims nothing", () => {
    for (const text of [
      "",
      "-",
      "-a",
      "a-",
      "a--b",
      "A",
      "Shop",
      "a b",
      " a",
      "a ",
      "a\n",
      "a_b",
      "a.b",
      "a/b",
      "ä",
      "ａ",
      "é",
      "🚀",
      "a".repeat(61),
      `a${"-a".repeat(30)}`,
      "a\u0000"
    ]) {
      assert.isUndefined(slug(text), JSON.stringify(text))
      assert.isFalse(isSlug(text), JSON.stringify(text))
    }
    for (const other of [1, null, undefined, {}, ["shop"]]) assert.isUndefined(slug(other))
  })

  it("refuses the form of an id, which paths take too", () => {
    assert.isUndefined(slug(id))
    assert.strictEqual(slug(id.slice(1)), id.slice(1))
    assert.strictEqual(slug(`${id}-a`), `${id}-a`)
  })
})

describe("isId", () => {
  it("recognizes ids by their form, in lower case", () => {
    assert.isTrue(isId(id))
    assert.isTrue(isId("ffffffff-ffff-ffff-ffff-ffffffffffff"))
    for (const text of [
      "",
      "shop",
      id.toUpperCase(),
      ` ${id}`,
      `${id}\n`,
      id.replaceAll("-", ""),
      `{${id}}`,
      id.slice(1),
      `g${id.slice(1)}`
    ]) {
      assert.isFalse(isId(text), JSON.stringify(text))
    }
  })
})

describe("characters", () => {
  it("are code points", () => {
    for (const text of ["", "ab", "a🚀b", "🚀🚀", "e\u0301", "👩‍🚀", `${high}a${low}`, "🚀".repeat(12)]) {
      const characters = Array.from(text)
      for (let count = 0; count <= 25; count++) {
        assert.strictEqual(firstCharacters(text, count), characters.slice(0, count).join(""))
        assert.strictEqual(fits(text, count), characters.length <= count)
      }
    }
  })

  it("are what limits count", () => {
    for (const schema of [Text(10), Name(10)]) {
      assert.strictEqual(decode(schema)("🚀".repeat(10)), "🚀".repeat(10))
      assert.isUndefined(decode(schema)("🚀".repeat(11)))
    }
  })
})

describe("Name", () => {
  const name = decode(Name(10))

  it("trims and keeps the rest as it is", () => {
    for (const [text, expected] of [
      ["Shop", "Shop"],
      ["  Web  Shop ", "Web  Shop"],
      ["\u00a0\u2003Shop\u3000\ufeff", "Shop"],
      ["Ünï 🚀", "Ünï 🚀"],
      ["👩‍🚀", "👩‍🚀"],
      ["e\u0301", "e\u0301"],
      ["<b>&\"'", "<b>&\"'"],
      ["0", "0"],
      ["x".repeat(10), "x".repeat(10)],
      [`  ${"x".repeat(10)}  `, "x".repeat(10)]
    ] as const) {
      assert.strictEqual(name(text), expected)
    }
  })

  it("refuses what is empty or too long after trimming", () => {
    for (const text of ["", " ", "   ", "\u00a0", "\ufeff", "x".repeat(11), `x${" ".repeat(9)}x`]) {
      assert.isUndefined(name(text), JSON.stringify(text))
    }
  })

  it("refuses what nobody can see", () => {
    for (const text of ["\u200b", "\u2800", "\u00ad \u202e", "\u{e0041}", "\ufe0f", "\u3164", "\ue000"]) {
      assert.isUndefined(name(text), JSON.stringify(text))
      assert.strictEqual(name(`${text}a`), `${text}a`.trim())
    }
  })

  it("refuses control characters, also at the ends", () => {
    for (const control of ["\u0000", "\t", "\n", "\r", "\u001b", "\u001f", "\u007f", "\u0080", "\u0085", "\u009f"]) {
      for (const text of [control, `${control}a`, `a${control}`, `a${control}b`]) {
        assert.isUndefined(name(text), JSON.stringify(text))
      }
    }
  })

  it("refuses lone surrogates and takes pairs", () => {
    assert.strictEqual(name(`a${high}${low}`), "a🚀")
    for (const text of [high, low, `a${high}`, `${low}a`, `${low}${high}`, `${high}${high}${low}`]) {
      assert.isUndefined(name(text))
    }
  })

  it("writes names as they are", () => {
    assert.strictEqual(Schema.encodeUnknownSync(Name(10))("Shop"), "Shop")
  })
})

describe("Text", () => {
  const text = decode(Text(10))

  it("keeps any text of at most so many characters as it is", () => {
    for (const value of ["", " ", "\n\ta\r\n", "a\u007f", "🚀", "x".repeat(10)]) assert.strictEqual(text(value), value)
    assert.isUndefined(text("x".repeat(11)))
  })

  it("refuses what a database cannot keep: NUL and lone surrogates", () => {
    for (const value of ["\u0000", "a\u0000b", high, low, `${low}${high}`, `a${high}b`]) assert.isUndefined(text(value))
  })
})

describe("Ref", () => {
  const ref = decode(Ref)

  it("takes any storable text of 1 to 200 characters, since what nothing has is not found", () => {
    for (const value of ["shop", id, "No Such Slug", " ", "x".repeat(200)]) assert.strictEqual(ref(value), value)
    for (const value of ["", "x".repeat(201), "a\u0000", high]) assert.isUndefined(ref(value))
  })
})

describe("HttpUrl", () => {
  const url = decode(HttpUrl)

  it("takes absolute http and https URLs as they are written", () => {
    for (const text of [
      "http://a",
      "https://shop.example",
      "https://shop.example/",
      "HTTPS://Shop.Example/A?b=c&d#e",
      "http://localhost:3000/path/",
      "http://[::1]:80",
      "https://user:password@shop.example",
      "https://шоп.example/ü",
      `https://a.example/${"x".repeat(1_982)}`
    ]) {
      assert.strictEqual(url(text), text)
    }
  })

  it("refuses everything else", () => {
    for (const text of [
      "",
      "https://",
      "https://shop.example ",
      "https://shop.example/\nb",
      "https://shop.example/\tb",
      "https://shop.example/\u0001",
      "shop.example",
      "/path",
      "//shop.example",
      "http:",
      "http:/a",
      "http://",
      "https://?a",
      "ftp://a.example",
      "javascript:alert(1)//http://a",
      "file:///etc/passwd",
      "data:text/plain,a",
      " https://a.example",
      "https://a b.example",
      "https://a.example:99999",
      "https://a.example/\u0000",
      `https://a.example/${high}`,
      `https://a.example/${"x".repeat(1_983)}`
    ]) {
      assert.isUndefined(url(text), JSON.stringify(text))
    }
  })
})

describe("VisibleName", () => {
  const name = decode(VisibleName(20))

  it("takes what can be seen", () => {
    for (const text of ["CI", "Ana's laptop", "Größe 2", "日本語", "❤️ ship"]) assert.strictEqual(name(text), text)
    assert.strictEqual(name("  CI "), "CI")
  })

  it("refuses what cannot, and what no name may be", () => {
    for (const text of [
      "",
      " ",
      "a\u202eb",
      "a\u200bb",
      "\u2066CI",
      "a\u0007",
      "a\nb",
      "a\ufe0f\ufe0f",
      "\ue000",
      "x".repeat(21)
    ]) {
      assert.isUndefined(name(text), JSON.stringify(text))
    }
  })
})

describe("Email", () => {
  const email = decode(Email)

  it("trims and lowers the case", () => {
    for (const [text, expected] of [
      ["ana@example.com", "ana@example.com"],
      [" Ana@Example.COM ", "ana@example.com"],
      ["ana+tag@sub.example.co.uk", "ana+tag@sub.example.co.uk"],
      ["o'hara@localhost", "o'hara@localhost"],
      ["ÅSA@exämple.com", "åsa@exämple.com"],
      ["a!#$%&'*+-/=?^_`{|}~.b@example.com", "a!#$%&'*+-/=?^_`{|}~.b@example.com"],
      [`${"x".repeat(242)}@example.com`, `${"x".repeat(242)}@example.com`]
    ] as const) {
      assert.strictEqual(email(text), expected)
    }
  })

  it("refuses every sign of which lower case makes a letter of ASCII, or that is another form of a letter", () => {
    for (let code = 0x80; code <= 0x10ffff; code++) {
      const sign = String.fromCodePoint(code)
      const isOther = /[\0-\x7f]/.test(sign.toLowerCase()) || sign.normalize("NFKC") !== sign
      if (isOther) assert.isUndefined(email(`a${sign}im@example.com`), code.toString(16))
    }
    assert.isUndefined(email("ana@\u212aim.example"))
  })

  it("refuses what is no address", () => {
    for (const text of [
      "",
      "ana",
      "@example.com",
      "ana@",
      "ana@@example.com",
      "ana@example@com",
      "a na@example.com",
      "ana@exam ple.com",
      "ana@.com",
      "ana@example.",
      "ana@example..com",
      "ana\n@example.com",
      "ana@example\u3002com",
      "ana<mallory@example.com",
      "<ana@example.com>",
      "mallory@evil.example,ana@example.com",
      "mallory@evil.example>ana",
      "ana@example.com>",
      '"ana"@example.com',
      "ana(x)@example.com",
      "ana@[127.0.0.1]",
      "ana;b@example.com",
      "ana\\b@example.com",
      "ana@example.com:25",
      // Zero width, bidi, fillers, tags, variation selectors, soft hyphens, private and unassigned characters.
      ...[
        "200b",
        "200d",
        "feff",
        "2060",
        "202e",
        "2066",
        "3164",
        "115f",
        "034f",
        "e0041",
        "fe0f",
        "00ad",
        "e000",
        "0378"
      ]
        .map((code) => String.fromCodePoint(Number.parseInt(code, 16)))
        .flatMap((one) => [`a${one}na@example.com`, `ana@exam${one}ple.com`]),
      "\u202eana@example.com",
      "ana\u0085@example.com",
      "ana@exam\u2028ple.com",
      // Full-width letters and dots, ligatures, and a letter whose accent is a character of its own.
      "ana@\uff45xample.com",
      "ana@example\uff0ecom",
      "\ufb01@example.com",
      "a\u030a@example.com",
      "ana@example.com\u0000",
      `ana${high}@example.com`,
      `${"x".repeat(243)}@example.com`
    ]) {
      assert.isUndefined(email(text), JSON.stringify(text))
    }
  })
})

describe("A text without tokens", () => {
  const token = "itk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk"
  const encoded = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("")

  it("ends where one begins, whatever stands before and behind it", () => {
    for (const [text, left] of [
      [token, "itk_***"],
      [`a ${token} b`, "a itk_***"],
      [`x_${token}`, "x_itk_***"],
      [`x${token}`, "xitk_***"],
      [`invite#${token}?${token}`, "invite#itk_***"],
      [token.replace("itk", "ITK"), "ITK_***"],
      [token.slice(0, 20), "itk_***"],
      [`${token.slice(0, 10)}\u200b${token.slice(10, 20)}\n${token.slice(20)}`, "itk_***"],
      ["a eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.c2lnbmF0dXJl b", "a eyJ***"],
      [`eyJhbGciOiJSUzI1NiJ9.eyJ ${token}`, "eyJ***"],
      ["eyjafjallajokull", "eyjafjallajokull"],
      ["eyJhbGciOiJSUzI1NiJ9.x", "eyJhbGciOiJSUzI1NiJ9.x"]
    ] as const) {
      assert.strictEqual(withoutTokens(text), left)
    }
  })

  it("is nothing where one is found by decoding, however often", () => {
    for (const text of [
      `invite%23${token}`,
      `%69${token.slice(1)}`,
      token.replace("_", "%5f"),
      token.replace("_", "%5F"),
      `${token.slice(0, 10)}%C2%A0${token.slice(10)}`,
      `${token}%`,
      `%E0${token}%ZZ`,
      encoded(token),
      encodeURIComponent(encoded(token)),
      token.replace("_", "%25255F"),
      token.replace("_", "%2525252525255F"),
      token.replace("_", "%%35F")
    ]) {
      assert.notInclude(withoutTokens(text), token.slice(20), text)
    }
    assert.strictEqual(withoutTokens(`invite%23${token}`), "***")
  })

  it("is the same where there is none", () => {
    for (const text of [
      "",
      "shop",
      "100%",
      "100%25",
      "a%20b%2Fc",
      "gr%C3%B6%C3%9Fe",
      "a%2520b",
      "itk_",
      "itk_***",
      "nltk_data",
      "disk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk"
    ]) {
      assert.strictEqual(withoutTokens(text), text)
    }
  })

  it("is found fast, however long it is", () => {
    for (const text of ["itk_", "%", "%25", "%2525", "%69tk_", "itk_-", "%2"].map((part) => part.repeat(50_000))) {
      withoutTokens(text)
    }
  })
})
