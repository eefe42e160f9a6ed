/** Where a request of a browser comes from. */
export interface Browser {
  readonly device: string
  readonly address: string
  /** The token in the cookie of its session, of whatever form. */
  readonly token: string | undefined
  /** The secret in the cookie with which it asked for a mail, of whatever form. */
  readonly asked?: string | undefined
}
