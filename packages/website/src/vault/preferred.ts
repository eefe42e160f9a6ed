/** What a form is about, as far as the page says it: by its filter, or by the cell that has the keyboard. */
export interface Preferred {
  readonly product?: string | undefined
  readonly environment?: string | undefined
}

/** The place that a cell of the vault is of. */
export const placeInFocus = (): Preferred => {
  const { environment, product } = document.activeElement?.closest<HTMLElement>("[data-environment]")?.dataset ?? {}
  return { environment, product }
}
