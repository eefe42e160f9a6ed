import { HttpApiMiddleware } from "effect/http-api"
import { HttpApiDecodeError } from "../Errors.ts"

/** Reads the body of an endpoint strictly: a body that does not match its schema is `HttpApiDecodeError` (docs/contract.md, Vault). */
export class StrictBody extends HttpApiMiddleware.Service<StrictBody>()("@delivery/domain/vault/StrictBody", {
  error: HttpApiDecodeError
}) {}

/** Unknown properties of a body are mistakes, too. */
export const strictBody = { onExcessProperty: "error" } as const
