import type { DeploymentTokenId } from "@delivery/domain/Ids"
import type { Scope } from "@delivery/domain/Scope"
import type { TokenWithPair } from "./DeploymentTokensRepo.ts"

/** What its endpoints need: whoever makes a token gives it these. */
export const tokenScopes: ReadonlyArray<Scope> = ["read", "write", "vault"]

/** A token in events and in the audit. */
export const tokenSubject = ({
  environment,
  id,
  name,
  product
}: Pick<TokenWithPair, "product" | "environment"> & { readonly id: DeploymentTokenId; readonly name: string }) => ({
  type: "token",
  id,
  label: `${name} of ${product.name} in ${environment.name}`,
  path: `deployments/${product.slug}/${environment.slug}`
})
