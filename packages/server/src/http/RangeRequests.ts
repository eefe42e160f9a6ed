/** Conditional and range requests (RFC 9110, sections 13 and 14), as far as downloads support them. Pure. */

/** The bytes that a request asks for. */
export type RequestedRange =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly offset: number; readonly length: number }
  | { readonly kind: "unsatisfiable" }

const wholeFile: RequestedRange = { kind: "whole" }
const unsatisfiable: RequestedRange = { kind: "unsatisfiable" }

/** What a `Range` header asks for of `size` bytes. Several ranges, and malformed ones, ask for the whole. */
export const requestedRange = (header: string | undefined, size: number): RequestedRange => {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "")
  if (match === null) return wholeFile
  const [, first = "", last = ""] = match
  if (first === "") {
    if (last === "") return wholeFile
    const length = Math.min(Number(last), size)
    if (Number(last) === 0) return unsatisfiable
    return length === 0 ? wholeFile : { kind: "part", offset: size - length, length }
  }
  const offset = Number(first)
  if (last !== "" && Number(last) < offset) return wholeFile
  if (offset >= size) return unsatisfiable
  return { kind: "part", offset, length: (last === "" ? size : Math.min(Number(last) + 1, size)) - offset }
}

/** Whether `If-None-Match` names the ETag, so that the client has what it asks for. Compares weakly. */
export const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === "*") return true
  return (ifNoneMatch.match(/(W\/)?"[^"]*"/g) ?? []).some((known) => known.replace(/^W\//, "") === etag)
}

/** Whether `If-Range` lets a range be answered in part. Compares strongly; a date must be the very `Last-Modified`. */
export const isUnchanged = (ifRange: string | undefined, etag: string, lastModified: string): boolean =>
  ifRange === undefined || ifRange.trim() === etag || ifRange.trim() === lastModified
