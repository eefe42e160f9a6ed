import { type Address, oneAt, withoutUndefined, textAt } from "../ui/address.ts"

/** What stands in the address of the vault: which part of it is shown. Never a value. */
export interface VaultSearch {
  readonly product?: string
  readonly q?: string
  readonly only?: "missing"
}

export const readVaultSearch = (address: Address): VaultSearch =>
  withoutUndefined({
    product: textAt(address, "product"),
    q: textAt(address, "q"),
    only: oneAt(address, "only", ["missing"])
  })

/** Two environments of a product beside each other. */
export interface VaultCompareSearch {
  readonly product?: string
  readonly left?: string
  readonly right?: string
  readonly only?: "different"
}

export const readVaultCompareSearch = (address: Address): VaultCompareSearch =>
  withoutUndefined({
    product: textAt(address, "product"),
    left: textAt(address, "left"),
    right: textAt(address, "right"),
    only: oneAt(address, "only", ["different"])
  })
