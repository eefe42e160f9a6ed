import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Timestamp } from "../Timestamp.ts"

/** How long a signed URL works, in milliseconds. */
export const signedUrlMillis = 5 * 60_000

export const SignFileUrl = Body({
  path: Schema.String.annotate({ description: "The path of the file in the run.", examples: ["checkout/trace.zip"] })
}).annotate({
  identifier: "SignFileUrl",
  description: "Which file is meant.",
  examples: [{ path: "checkout/trace.zip" }]
})

/** A URL by which whoever has it reads one file for a while (docs/contract.md, Signed URLs of files). */
export const SignedUrl = Schema.Struct({
  url: Schema.String.annotate({
    description: "Answers the file as `GET` of it does, without a credential, on an origin of its own."
  }),
  traceViewerUrl: Schema.NullOr(Schema.String).annotate({
    description: "Opens the file in Playwright's trace viewer; null if the server serves no website."
  }),
  expiresAt: Timestamp.annotate({ description: "From when on the URLs are refused." })
}).annotate({
  identifier: "SignedUrl",
  description: "A URL by which whoever has it reads one file for a while.",
  examples: [
    {
      url: "https://files.example.com/files/0197a1b2-0000-7000-8000-000000000001/12/checkout/trace.zip?sha256=a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447&expires=1795253740000&signature=pUW3Yc",
      traceViewerUrl:
        "https://files.example.com/trace-viewer/?trace=https%3A%2F%2Ffiles.example.com%2Ffiles%2F0197a1b2-0000-7000-8000-000000000001%2F12%2Fcheckout%2Ftrace.zip%3Fsha256%3Da948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447%26expires%3D1795253740000%26signature%3DpUW3Yc",
      expiresAt: "2026-11-21T09:35:40.000Z"
    }
  ]
})
export type SignedUrl = typeof SignedUrl.Type
