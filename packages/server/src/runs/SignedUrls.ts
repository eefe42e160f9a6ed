import { Conflict, Forbidden, type InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { type SignedUrl, signedUrlMillis } from "@delivery/domain/runs/SignedUrl"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { anyRole } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import type { OpenFile } from "../http/Downloads.ts"
import { Keyring } from "../keys/Keyring.ts"
import { Site } from "../website/Site.ts"
import { TestRunFiles } from "./TestRunFiles.ts"

/** Where the origin of files has the files of runs, and Playwright's trace viewer. */
export const filesPath = "/files/"
export const traceViewerPath = "/trace-viewer/"

/** URLs of files that need no credential for a while (docs/contract.md, Signed URLs of files). */
export class SignedUrls extends Context.Service<
  SignedUrls,
  {
    readonly sign: (run: number, path: string) => Effect.Effect<SignedUrl, InvalidInput | NotFound | Conflict, Caller>
    /** The file that a URL is of. Fails with what is wrong with the URL, or where the file is another one by now. */
    readonly open: (url: URL) => Effect.Effect<OpenFile, Forbidden | NotFound>
  }
>()("@delivery/server/runs/SignedUrls") {
  static readonly layer = Layer.effect(SignedUrls, Effect.gen(make))
}

interface Dependencies {
  readonly files: TestRunFiles["Service"]
  readonly keyring: Keyring["Service"]
  readonly site: Site["Service"]
  readonly filesOrigin: Option.Option<string>
}

function* make() {
  const { filesOrigin } = yield* Settings
  const dependencies = { files: yield* TestRunFiles, keyring: yield* Keyring, site: yield* Site, filesOrigin }
  return SignedUrls.of({ sign: sign(dependencies), open: open(dependencies) })
}

/** What signatures are for, and those of nothing else. */
const purpose = "signed-url"

/** What a signed URL says. */
interface Signed {
  readonly workspaceId: string
  readonly run: number
  readonly path: string
  readonly sha256: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

const textOf = ({ expires, path, run, sha256, workspaceId }: Signed): string =>
  JSON.stringify([workspaceId, run, path, sha256, expires])

const sign = ({ files, filesOrigin, keyring, site }: Dependencies): SignedUrls["Service"]["sign"] =>
  Effect.fn("SignedUrls.sign")(function* (run, path) {
    const { file } = yield* files.open(run, path)
    const { workspace } = yield* anyRole
    if (Option.isNone(filesOrigin)) return yield* noFilesOrigin
    const expires = (yield* Clock.currentTimeMillis) + signedUrlMillis
    const signed = { workspaceId: workspace.id, run, path, sha256: file.sha256, expires }
    const url = new URL(`${filesPath}${workspace.id}/${run}/${encodedPath(path)}`, filesOrigin.value)
    // The signature comes last: the viewer takes an address for another thing by how it ends.
    url.search = new URLSearchParams({
      sha256: file.sha256,
      expires: String(expires),
      signature: keyring.sign(purpose, textOf(signed))
    }).toString()
    const viewer = new URL(traceViewerPath, filesOrigin.value)
    viewer.search = new URLSearchParams({ trace: url.href }).toString()
    return { url: url.href, traceViewerUrl: site.isServed ? viewer.href : null, expiresAt: timestamp(expires) }
  })

const open = ({ files, keyring }: Dependencies): SignedUrls["Service"]["open"] =>
  Effect.fn("SignedUrls.open")(function* (url) {
    const signed = read(url)
    const signature = url.searchParams.get("signature") ?? ""
    if (signed === undefined || !keyring.isSigned(purpose, textOf(signed), signature)) return yield* invalidUrl
    if ((yield* Clock.currentTimeMillis) >= signed.expires) return yield* expiredUrl
    const opened = yield* files.openIn(signed.workspaceId as WorkspaceId, signed.run, signed.path)
    return opened.file.sha256 === signed.sha256 ? opened : yield* NotFound.of("file", signed.path)
  })

/** What a URL says; undefined where it is none of ours. */
const read = ({ pathname, searchParams }: URL): Signed | undefined => {
  if (!pathname.startsWith(filesPath)) return undefined
  const [workspaceId = "", run = "", ...segments] = pathname.slice(filesPath.length).split("/")
  try {
    return {
      workspaceId,
      run: Number(run),
      path: segments.map(decodeURIComponent).join("/"),
      sha256: searchParams.get("sha256") ?? "",
      expires: Number(searchParams.get("expires"))
    }
  } catch {
    return undefined
  }
}

const encodedPath = (path: string): string => path.split("/").map(encodeURIComponent).join("/")

const noFilesOrigin = new Conflict({
  message: "This server has no origin for files of others: FILES_ORIGIN is false.",
  reason: "no_files_origin"
})
const invalidUrl = new Forbidden({ message: "This link is not whole, or was changed.", reason: "invalid_url" })
const expiredUrl = new Forbidden({
  message: "This link has expired: it works for 5 minutes. Open the file again where you found the link.",
  reason: "expired_url"
})
