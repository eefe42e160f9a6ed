import { useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useState } from "react"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"

/** How long a value is shown, in milliseconds. */
const shownMillis = 30_000

export interface CellPath {
  readonly slug: string
  readonly product: string
  readonly name: string
  readonly environment: string
}

interface Read {
  readonly value: string
  readonly version: number
}

/** Reads a value. It is in no cache, no address and no storage: whoever asks keeps it, and forgets it. */
const readCell = async ({ environment, name, product, slug }: CellPath): Promise<Read | undefined> => {
  const secret = await client.vault.get({
    params: { slug, productSlug: product, name },
    query: { values: environment }
  })
  const cell = secret.environments.find((one) => one.environment.slug === environment)
  return cell === undefined || cell.value === null ? undefined : { value: cell.value, version: cell.version }
}

/** The value of this version: shown for 30 s, while the window has the keyboard, and until another version is written. */
export const useReveal = (path: CellPath, version: number) => {
  const queries = useQueryClient()
  const [shown, setShown] = useState<Read>()
  const [isBusy, setBusy] = useState(false)
  const hide = useCallback(() => setShown(undefined), [])
  // Forgotten, and not only hidden. What is newer than the page knows is shown as soon as the page knows it.
  if (shown !== undefined && shown.version < version) setShown(undefined)
  useEffect(() => {
    if (shown === undefined) return
    const timer = setTimeout(hide, shownMillis)
    addEventListener("blur", hide)
    return () => {
      clearTimeout(timer)
      removeEventListener("blur", hide)
    }
  }, [hide, shown])
  /** Answers whether it was read and used. */
  const read = async (use: (read: Read) => unknown): Promise<boolean> => {
    setBusy(true)
    try {
      const read = await readCell(path)
      if (read?.version !== version) await queries.invalidateQueries({ queryKey: workspaceKey(path.slug, "vault") })
      if (read === undefined) return false
      await use(read)
      return true
    } catch (error) {
      tellFailure("The value could not be read.", error)
      return false
    } finally {
      setBusy(false)
    }
  }
  return {
    value: shown?.version === version ? shown.value : undefined,
    hide,
    isBusy,
    reveal: () => read(setShown),
    copy: () => read(({ value }) => navigator.clipboard.writeText(value))
  }
}
