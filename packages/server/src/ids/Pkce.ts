import { isCodeVerifier } from "@delivery/domain/Pkce"
import { hash, timingSafeEqual } from "node:crypto"

/** Whether the text is the verifier of an S256 challenge (RFC 7636, section 4.6). */
export const isVerified = (challenge: string, verifier: string): boolean =>
  isCodeVerifier(verifier) &&
  timingSafeEqual(Buffer.from(challenge), Buffer.from(hash("sha256", verifier, "base64url")))
