import { maxAttachmentBytes } from "@delivery/domain/planning/AttachmentLimits"
import type { Attachment } from "@delivery/domain/planning/Attachment"
import { headersOfPerson } from "../api/client.ts"
import type { Failure } from "../api/failures.ts"
import { formatBytes } from "../ui/formatBytes.ts"
import { attachmentsUrl } from "./attachments.ts"

/** Sends a file to a ticket. The browser streams it, and tells how far it is: `fetch` would not. */

interface Options {
  readonly slug: string
  readonly ticket: string
  readonly file: File
  readonly signal: AbortSignal
  /** From 0 to 1. */
  readonly onProgress: (fraction: number) => void
}

const failed = (message: string): Failure => ({ _tag: "NotAttached", message })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Rejects with a `Failure`; or with the reason of the signal. */
export const uploadAttachment = ({ file, onProgress, signal, slug, ticket }: Options): Promise<Attachment> =>
  new Promise((resolve, reject) => {
    if (file.size > maxAttachmentBytes) {
      const [size, most] = [formatBytes(file.size), formatBytes(maxAttachmentBytes)]
      return reject(failed(`It has ${size}. A file can have ${most} at most.`))
    }
    if (!navigator.onLine) return reject(failed("You are offline. Try again when you are back."))
    const request = new XMLHttpRequest()
    request.open("POST", `${attachmentsUrl(slug, ticket)}?name=${encodeURIComponent(file.name)}`)
    for (const [name, value] of Object.entries(headersOfPerson())) request.setRequestHeader(name, value)
    request.setRequestHeader("content-type", file.type === "" ? "application/octet-stream" : file.type)
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total))
    request.addEventListener("load", () => {
      const body = parsed(request.responseText)
      if (request.status === 201) return resolve(body as Attachment)
      const isTold = typeof body === "object" && body !== null && "message" in body
      reject(isTold ? (body as Failure) : failed(`The server answered ${request.status}.`))
    })
    // A folder that was dropped, or a file that is gone, cannot be read either.
    request.addEventListener("error", () =>
      reject(failed("It could not be read, or the server does not answer. Try again."))
    )
    signal.addEventListener("abort", () => {
      request.abort()
      reject(signal.reason as Error)
    })
    request.send(file)
  })
