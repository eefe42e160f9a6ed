import { visible } from "@delivery/domain/Text"

/**
 * `Content-Disposition` with the name of a file that somebody else has chosen (RFC 6266): nothing in the name ends the header, names a
 * directory, or looks like another ending than it has.
 */
export const contentDisposition = (how: "inline" | "attachment", name: string): string => {
  const safe = visible(name).replaceAll(/[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}]/gu, "_")
  const ascii = safe.replaceAll(/[^\x20-\x7e]|%/g, "_")
  const encoded = encodeURIComponent(safe).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
