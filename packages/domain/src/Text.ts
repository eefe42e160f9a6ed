import { Schema, SchemaTransformation } from "effect"

/** Text schemas shared by all rooms (contract, section 1). */

/** PostgreSQL text cannot hold NUL, and a lone surrogate does not survive UTF-8, so no body may carry either. */
const isStorable = Schema.isPattern(/^[^\u0000\p{Cs}]*$/u, {
  message: "Expected text without NUL characters and lone surrogates"
})

/** Any text of at most `max` characters. */
export const Text = (max: number) => Schema.String.check(Schema.isMaxLength(max), isStorable)

/** A name for people: trimmed, never empty, at most `max` characters, on one line. */
export const Name = (max: number) =>
  Schema.String.check(
    Schema.isPattern(/^[^\p{Cc}\p{Cs}]*$/u, { message: "Expected text without control characters" })
  ).pipe(
    Schema.decodeTo(
      Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max)),
      SchemaTransformation.transform({ decode: (s) => s.trim(), encode: (s) => s })
    )
  )

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** Whether `text` has the form of an id, in lower case. */
export const isId = (text: string): boolean => uuidPattern.test(text)

/** Whether `text` can be a slug. */
export const isSlug = (text: string): boolean => text.length <= 60 && slugPattern.test(text)

/**
 * A slug: lower-case letters, digits and single hyphens, at most 60. A slug may not look like an id, since paths take
 * either.
 */
export const Slug = Schema.String.check(
  Schema.isPattern(slugPattern, {
    message: "Expected lower-case letters, digits and single hyphens between them"
  }),
  Schema.isMaxLength(60),
  Schema.makeFilter<string>((slug) => !isId(slug) || "Expected a slug, not the form of an id")
).annotate({ description: "Lower-case letters, digits and hyphens, at most 60 characters, not in the form of an id." })

/** A slug or an id, as paths, bodies and filters take it. */
export const Ref = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200), isStorable)

/** An absolute http or https URL. */
export const HttpUrl = Text(2_000).check(
  Schema.makeFilter<string>((text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return "Expected an absolute http(s) URL"
    return true
  })
).annotate({ format: "uri" })

/** An email address, kept in lower case. */
export const Email = Text(254).pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.isPattern(/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/, { message: "Expected an email address" })),
    SchemaTransformation.transform({ decode: (s) => s.trim().toLowerCase(), encode: (s) => s })
  )
).annotate({ format: "email" })
