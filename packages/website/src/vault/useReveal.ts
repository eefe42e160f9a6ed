import { useCallback, useEffect, useState } from "react"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"

/** How long a value is shown, in milliseconds. */
const shownMillis = 30_000

export interface CellPath {
  readonly slug: string
  readonly product: string
  readonly name: string
  readonly environment: string
}

/** Reads a value. It is in no cache, no address and no storage: whoever asks keeps it, and forgets it. */
const readValue = async ({ environment, name, product, slug }: CellPath): Promise<string | null> => {
  const secret = await client.vault.get({ params: { slug, productSlug: product, name } })
  return secret.environments.find((one) => one.environment.slug === environment)?.value ?? null
}

/** A value that is shown for 30 s, and while the window has the keyboard. */
export const useReveal = (path: CellPath) => {
  const [value, setValue] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const hide = useCallback(() => setValue(undefined), [])
  useEffect(() => {
    if (value === undefined) return
    const timer = setTimeout(hide, shownMillis)
    addEventListener("blur", hide)
    return () => {
      clearTimeout(timer)
      removeEventListener("blur", hide)
    }
  }, [hide, value])
  const read = async (use: (value: string) => unknown) => {
    setBusy(true)
    try {
      const read = await readValue(path)
      if (read !== null) await use(read)
    } catch (error) {
      tellFailure("The value could not be read.", error)
    } finally {
      setBusy(false)
    }
  }
  return {
    value,
    hide,
    isBusy,
    reveal: () => read(setValue),
    copy: () => read((text) => navigator.clipboard.writeText(text))
  }
}
