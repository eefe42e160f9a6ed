import { run } from "./HostRun.ts"

/** `person list`: prints who there is. */
export const list = run((operations) => operations.listPersons())

/** `person verify`: the operator vouches for an address. */
export const verify = (input: { readonly email: string }) => run((operations) => operations.verifyPerson(input))

/** `api-key create`: prints a new key. */
export const createApiKey = (input: { readonly email: string; readonly name: string }) =>
  run((operations) => operations.createApiKey(input))

/** `sign-in-link`: prints a new link. */
export const printSignInLink = (who: string) => run((operations) => operations.printSignInLink({ who }))
