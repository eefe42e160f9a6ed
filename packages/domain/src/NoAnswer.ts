/** Why nothing answered. Node's fetch says so in the cause of its error, browsers by no means at all. */

/** The codes whose messages are none for people. Few, since pages load them. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "host not found",
  ETIMEDOUT: "timed out",
  ERR_SSL_WRONG_VERSION_NUMBER: "no TLS there"
}

/** Why there was no answer, from what fetch has thrown: `connection refused (ECONNREFUSED)`. */
export const noAnswerReason = (thrown: unknown): string => {
  const { cause, code = "", message } = thrown as { cause?: unknown; code?: string; message?: string }
  if (cause) return noAnswerReason(cause)
  return words[code] ? `${words[code]} (${code})` : message || code
}
