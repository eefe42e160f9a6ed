import { HttpApiMiddleware } from "effect/http-api"
import { HttpApiDecodeError } from "../Errors.ts"

/** Reads the body of an endpoint strictly: what its schema does not match is `HttpApiDecodeError` (docs/contract.md, Vault). */
export class StrictBody extends HttpApiMiddleware.Service<StrictBody>()("@delivery/domain/vault/StrictBody", {
  error: HttpApiDecodeError
}) {}
