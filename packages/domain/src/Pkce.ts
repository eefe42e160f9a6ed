/** PKCE (RFC 7636): the SHA-256 of a verifier in base64url, and the verifier itself. */
export const isCodeChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)
export const isCodeVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text)
