/** What stands in the address of the vault: which part of it is shown. Never a value. */
export interface VaultSearch {
  readonly product?: string
  readonly q?: string
  readonly only?: "missing"
}

export const readVaultSearch = (search: Readonly<Record<string, unknown>>): VaultSearch => {
  const text = (name: string) => {
    const value = typeof search[name] === "number" ? String(search[name]) : search[name]
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const [product, q] = [text("product"), text("q")]
  return {
    ...(product === undefined ? {} : { product }),
    ...(q === undefined ? {} : { q }),
    ...(search["only"] === "missing" ? { only: "missing" as const } : {})
  }
}

/** Two environments of a product beside each other. */
export interface VaultCompareSearch {
  readonly product?: string
  readonly left?: string
  readonly right?: string
  readonly only?: "different"
}

export const readVaultCompareSearch = (search: Readonly<Record<string, unknown>>): VaultCompareSearch => {
  const [product, left, right] = (["product", "left", "right"] as const).map((name) => {
    const value = search[name]
    return typeof value === "string" && value !== "" ? value : undefined
  })
  return {
    ...(product === undefined ? {} : { product }),
    ...(left === undefined ? {} : { left }),
    ...(right === undefined ? {} : { right }),
    ...(search["only"] === "different" ? { only: "different" as const } : {})
  }
}
