import { Redacted } from "effect"

/**
 * Secret values in calls. The Effect client takes and returns them as `Redacted`, which no log shows. The promise client
 * takes and returns text, because its users have no `Redacted`.
 */
export type Plain<A> =
  A extends Redacted.Redacted<infer Value>
    ? Value
    : A extends string | number | boolean | null | undefined
      ? A
      : A extends (...args: never) => unknown
        ? A
        : A extends object
          ? { readonly [K in keyof A]: Plain<A[K]> }
          : A

/** An answer with its secret values as text. */
export const toPlain = (part: unknown): unknown => {
  if (Redacted.isRedacted(part)) return Redacted.value(part)
  if (Array.isArray(part)) return part.map(toPlain)
  return isRecord(part) ? mapValues(part, toPlain) : part
}

/** A body of the vault with its values redacted: `value`, and each one in `values`. */
export const redactBody = (payload: unknown): unknown => {
  if (!isRecord(payload)) return payload
  const { value, values } = payload
  return {
    ...payload,
    ...("value" in payload ? { value: redact(value) } : {}),
    ...(isRecord(values) ? { values: mapValues(values, redact) } : {})
  }
}

const redact = (value: unknown): unknown => (typeof value === "string" ? Redacted.make(value) : value)

const isRecord = (part: unknown): part is Record<string, unknown> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype

/** `fromEntries` keeps keys such as `__proto__`. */
const mapValues = (record: Record<string, unknown>, f: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))
