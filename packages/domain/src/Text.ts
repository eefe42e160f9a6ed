import { Schema, SchemaTransformation } from "effect"

/** Text schemas shared by all rooms (docs/contract.md, Conventions). */

/** Keeps a check out of the JSON schema, where the description says it better. */
export const undocumented = () => [{}, true] as const

/** PostgreSQL text cannot hold NUL, and a lone surrogate does not survive UTF-8, so no body may carry either. */
const isStorable = Schema.isPattern(/^[^\u0000\p{Cs}]*$/u, {
  message: "Expected text without NUL characters and lone surrogates",
  toJsonSchema: undocumented
})

/** At least `min` characters. */
export const atLeast = (min: number) =>
  Schema.isMinLength(min, {
    message: min === 1 ? "Expected text that is not empty" : `Expected at least ${min} characters`
  })

/** The first `count` characters of a text. A character is a code point, as in JSON Schema: an emoji counts as one. */
export const firstCharacters = (text: string, count: number): string => {
  if (text.length <= count) return text
  let end = 0
  for (let taken = 0; taken < count && end < text.length; taken++) end += text.codePointAt(end)! > 0xffff ? 2 : 1
  return text.slice(0, end)
}

/** Whether a text has at most `max` characters. */
export const fits = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && firstCharacters(text, max).length === text.length)

/** At most `max` characters. */
export const atMost = (max: number) =>
  Schema.makeFilter<string>((text) => fits(text, max) || `Expected at most ${max} characters`, {
    toJsonSchema: () => [{ maxLength: max }, true]
  })

/** One of a few words. Any other is refused with the list of them. */
export const OneOf = <const Values extends ReadonlyArray<string>>(values: Values): Schema.Literals<Values> =>
  Schema.Literals(values).annotate({ message: `Expected one of ${values.join(", ")}` })

/** Any text of at most `max` characters. */
export const Text = (max: number) => Schema.String.check(atMost(max), isStorable)

/** Something that a reader sees, where there is something at all. */
export const isVisible = Schema.makeFilter<string>(
  (text) =>
    text === "" ||
    /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text) ||
    "Expected text that can be seen",
  { toJsonSchema: undocumented }
)

/** A name that people read: trimmed, never empty, on one line, at most `max` characters. */
export const Name = (max: number) =>
  Schema.String.check(
    Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, {
      message: "Expected text without control characters",
      // What is described is the text that is sent, and its length is checked after trimming.
      toJsonSchema: () => ({ minLength: 1, maxLength: max })
    })
  ).pipe(
    Schema.decodeTo(
      Schema.String.check(atLeast(1), atMost(max), isVisible),
      SchemaTransformation.transform({ decode: (s) => s.trim(), encode: (s) => s })
    )
  )

/**
 * What a reader does not see: control and format characters, private and unassigned ones, ends of lines, fillers, the empty
 * pattern of Braille, and variation selectors that do not choose the form of one character before them. A tab is kept.
 */
const invisible =
  /[^\P{C}\t]|[\p{Zl}\p{Zp}\u2800]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<![^\p{C}\p{Z}\p{Variation_Selector}])\p{Variation_Selector}/gu

/** The text on one line, in which nothing is hidden: what cannot be seen is written like `\u{202E}`. */
export const visible = (text: string): string =>
  text.replace(invisible, (one) => `\\u{${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}}`)

/** A name of something that acts, which must not look like another: a name in which everything can be seen. */
export const VisibleName = (max: number) =>
  Name(max).check(
    Schema.makeFilter<string>((name) => visible(name) === name || "Expected text without invisible characters", {
      toJsonSchema: undocumented
    })
  )

/**
 * What begins like a token (docs/contract.md, Tokens), and like one of a CI, to the end of the text. Of fewer characters of a
 * token, others are left that nobody can guess.
 */
const tokenPatterns = [
  /([a-z]tk_|whsec_)(?=(?:[^0-9a-z]*[0-9a-z]){16}).*/is,
  // Two objects of JSON in base64url.
  /(eyJ)(?=[\w-]{1,1000}\.eyJ).*/is
]

/** Whether a text may hold a token, at the price of one look at it. */
export const mayHoldToken = (text: string): boolean => /%|tk_|whsec_|eyJ/i.test(text)

/** How often a text is decoded that somebody may have encoded several times. */
const maxDecodings = 4

/**
 * The text without a token that was sent in a wrong place, such as pasted into a path, whatever stands before it. Nothing is
 * left of a text that has one only when it is decoded.
 */
export const withoutTokens = (text: string): string => {
  if (!mayHoldToken(text)) return text
  let decoded = text
  for (let round = 0; round <= maxDecodings; round++) {
    // Bytes that are no text keep nobody from reading the others.
    const next = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)))
    if (tokenPatterns.some((pattern) => pattern.test(next))) {
      return next === text ? tokenPatterns.reduce((left, pattern) => left.replace(pattern, "$1***"), text) : "***"
    }
    if (next === decoded) return text
    decoded = next
  }
  return "***"
}

/**
 * A text of any length for `normalize`, which takes time by the square of the marks that stand on one letter: of more than 30 (the
 * limit of Unicode's stream-safe format), the others are left out.
 */
export const fewMarks = (text: string): string => text.replaceAll(/(\p{M}{30})\p{M}+/gu, "$1")

/** The form in which names are compared that may not differ in case alone. */
export const nameKey = (name: string): string => name.normalize("NFC").toLowerCase()

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/u

/** Whether `text` has the form of an id (in lower case). */
export const isId = (text: string): boolean => uuidPattern.test(text)

/** Whether `text` can be a slug. */
export const isSlug = (text: string): boolean => text.length <= 60 && slugPattern.test(text)

/**
 * A slug: lower-case letters, digits and single hyphens, at most 60 characters. It may not look like an id, because paths
 * take either.
 */
export const Slug = Schema.String.check(
  Schema.isPattern(slugPattern, {
    message: "Expected lower-case letters, digits and single hyphens between them"
  }),
  atMost(60),
  Schema.makeFilter<string>((slug) => !isId(slug) || "Expected a slug that does not look like an id", {
    toJsonSchema: undocumented
  })
).annotate({
  description:
    "Lower-case letters and digits, with single hyphens between them, at most 60 characters. It may not have the form of an id.",
  examples: ["shop"]
})

/** A slug, id or another reference, as bodies and filters take it. */
export const Ref = Schema.String.check(atLeast(1), atMost(200), isStorable)

/** References to at most `max` objects. Their number is checked first: a list of a million wrong ones is one mistake. */
export const Refs = (max: number, noun: string) =>
  Schema.Array(Schema.Unknown)
    .check(
      Schema.makeFilter<ReadonlyArray<unknown>>(({ length }) => length <= max || `Expected at most ${max} ${noun}`, {
        toJsonSchema: () => ({ maxItems: max, items: { type: "string", minLength: 1, maxLength: 200 } })
      })
    )
    .pipe(Schema.decodeTo(Schema.Array(Ref), SchemaTransformation.passthrough({ strict: false })))

/** An absolute http or https URL. */
export const HttpUrl = Schema.String.annotate({ format: "uri" })
  .check(
    atMost(2_000),
    isStorable,
    Schema.makeFilter<string>(
      (text) => {
        // `URL` drops blanks and control characters, which would make two different texts the same address.
        if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return "Expected an absolute http(s) URL"
        return true
      },
      { toJsonSchema: undocumented }
    )
  )
  .annotate({ description: "An absolute http or https URL." })

/**
 * What an address is made of: nothing that is written around addresses (`<`, `,`, `"`), by which a mailer would read another
 * one, and nothing that cannot be seen, or that mailers take for a dot, by which one mailbox would have many addresses.
 */
const addressPattern = (() => {
  const excluded = String.raw`\s@\p{C}\p{Z}\p{Default_Ignorable_Code_Point}()<>[\]:;\\,"\u3002`
  const label = `[^.${excluded}]+`
  return new RegExp(`^[^${excluded}]+@${label}(\\.${label})*$`, "u")
})()

/** What lower case makes another letter of than it is, such as a `k` of the Kelvin sign. */
const signs = "\u0130\u03f4\u2126\u212a\u212b"
const hasSign = new RegExp(`[${signs}]`)
const withoutSigns = new RegExp(`[^${signs}]+`, "g")

/** The form in which addresses are kept and compared: in lower case, but for signs, so that none becomes another's address. */
export const addressKey = (text: string): string => text.replaceAll(withoutSigns, (part) => part.toLowerCase())

/** An email address, kept in lower case. */
export const Email = Schema.String.annotate({ format: "email" })
  .check(atMost(254), isStorable)
  .annotate({ description: "An email address. It is stored in lower case." })
  .pipe(
    Schema.decodeTo(
      Schema.String.check(
        Schema.makeFilter<string>(
          // Mailers take compatible characters, such as full-width letters, for the usual ones.
          (text) =>
            (addressPattern.test(text) && !hasSign.test(text) && text.normalize("NFKC") === text) ||
            "Expected an email address",
          { toJsonSchema: undocumented }
        )
      ),
      SchemaTransformation.transform({ decode: (s) => addressKey(s.trim()), encode: (s) => s })
    )
  )
