import { Schema } from "effect"
import { fits } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** The largest file, in bytes: 100 MiB. */
export const maxFileBytes = 104_857_600

/** A file of a run (docs/contract.md, Files). */
export const StoredFile = Schema.Struct({
  path: Schema.String.annotate({ description: "The path of the file, unique in the run." }),
  size: Schema.Int.annotate({ description: "The size in bytes." }),
  contentType: Schema.String.annotate({
    description: "The content type of the upload; `application/octet-stream` if it was missing or malformed."
  }),
  sha256: Schema.String.annotate({ description: "The SHA-256 of the content, in hexadecimal." }),
  createdAt: Timestamp
}).annotate({
  identifier: "StoredFile",
  description: "A file of a run.",
  examples: [
    {
      path: "checkout/pays-by-card/stdout.txt",
      size: 12,
      contentType: "text/plain",
      sha256: "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447",
      createdAt: "2026-11-21T09:30:40.000Z"
    }
  ]
})
export type StoredFile = typeof StoredFile.Type

/** What is wrong with the path of a file; undefined if nothing is. */
export const pathProblem = (path: string): string | undefined => {
  if (path === "" || !fits(path, 512)) return "Expected 1 to 512 characters"
  if (/[\p{Cc}\p{Cs}\\]/u.test(path)) return "Expected no backslash and no control characters"
  if (path.split("/").some((segment) => segment === "" || segment === "." || segment === "..")) {
    return "Expected segments that are not empty, . or .."
  }
  return undefined
}
