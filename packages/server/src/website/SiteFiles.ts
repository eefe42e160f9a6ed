import { hash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A build of the website (`packages/website/build/build.ts`), read whole into memory: some megabytes, asked for all the time. */

export interface SiteFile {
  readonly contentType: string
  readonly etag: string
  readonly plain: Uint8Array
  /** Compressed when it was built; undefined for what is compressed already. */
  readonly br: Uint8Array | undefined
  readonly gzip: Uint8Array | undefined
}

export interface SiteFiles {
  /** By the path of the request, such as `/assets/index-DXZ1S6Ep.js`. */
  readonly files: ReadonlyMap<string, SiteFile>
  /** The page of a path. */
  readonly pageOf: (path: string) => SiteFile
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
  ttf: "font/ttf",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
  woff2: "font/woff2"
}

const read = (path: string): Uint8Array | undefined => (existsSync(path) ? readFileSync(path) : undefined)

const readSiteFile = (path: string): SiteFile => {
  const plain = readFileSync(path)
  return {
    contentType: types[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    etag: `"${hash("sha256", plain, "base64url").slice(0, 22)}"`,
    plain,
    br: read(`${path}.br`),
    gzip: read(`${path}.gz`)
  }
}

/** The files of a build, by their paths in it, which begin with a slash. */
export const readFiles = (directory: string): ReadonlyMap<string, SiteFile> => {
  const root = join(directory, "files")
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".vite") && !/\.(?:br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(paths.map((path) => [path.slice(root.length).replaceAll("\\", "/"), readSiteFile(path)]))
}

/** Reads the build in a directory. Throws where it is not whole. */
export const readSite = (directory: string): SiteFiles => {
  const listed = JSON.parse(readFileSync(join(directory, "pages.json"), "utf8")) as ReadonlyArray<{
    readonly pattern: string
    readonly file: string
  }>
  const pages = listed.map(({ file, pattern }) => ({
    pattern: new RegExp(pattern),
    page: readSiteFile(join(directory, "pages", file))
  }))
  const files = readFiles(directory)
  // The pages of the service have the website's letters, at an address that stays.
  const [, letters] = [...files].find(([path]) => path.startsWith("/assets/inter-latin-")) ?? []
  return {
    files: letters === undefined ? files : new Map([...files, ["/inter.woff2", letters]]),
    // The last pattern matches every path.
    pageOf: (path) => pages.find(({ pattern }) => pattern.test(path))!.page
  }
}
