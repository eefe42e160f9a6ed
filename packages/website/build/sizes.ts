import { readFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync } from "node:zlib"
import { otherScreen, pages } from "./pages.ts"

/** How much JavaScript each page needs before it shows. */

export interface Chunk {
  readonly file: string
  readonly imports?: ReadonlyArray<string>
}

/** What Vite says of its chunks, by the modules that they begin with. */
export type Manifest = Readonly<Record<string, Chunk>>

/** The files that a module needs, itself and the frame of the website first. */
export const filesOf = (manifest: Manifest, ...modules: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (key: string): void => {
    const chunk = manifest[key]
    if (chunk === undefined || found.has(chunk.file)) return
    found.add(chunk.file)
    for (const one of chunk.imports ?? []) visit(one)
  }
  for (const module of modules) visit(module)
  return [...found].filter((file) => file.endsWith(".js"))
}

/** The most that the first screen may take: 110 KB of brotli. */
export const mostBytes = 110_000

export interface PageSize {
  readonly module: string
  /** Bytes of brotli at its highest level. */
  readonly bytes: number
}

export const pageSizes = (directory: string): ReadonlyArray<PageSize> => {
  const manifest = JSON.parse(readFileSync(join(directory, "files/.vite/manifest.json"), "utf8")) as Manifest
  const sizes = new Map<string, number>()
  const sizeOf = (file: string): number => {
    const known = sizes.get(file) ?? brotliCompressSync(readFileSync(join(directory, "files", file))).length
    sizes.set(file, known)
    return known
  }
  return pages.map(([, module, ...next]) => ({
    module,
    bytes: filesOf(manifest, "index.html", module, ...next.filter((one) => one === otherScreen)).reduce(
      (sum, file) => sum + sizeOf(file),
      0
    )
  }))
}
