import type { AddPasskey, PasskeyProof, RenamePasskey } from "@delivery/domain/auth/Passkey"
import { Effect } from "effect"
import { browser, refuse, withCookie } from "./Cookies.ts"
import { Passkeys } from "./Passkeys.ts"

interface Of {
  readonly params: { readonly passkey: string }
}

/** The handlers of passkeys. */
export const passkeyHandlers = Effect.map(Passkeys, (passkeys) => ({
  passkeySignInOptions: () =>
    browser.pipe(Effect.flatMap(passkeys.signInOptions), Effect.catchTag("Throttled", refuse)),
  signInWithPasskey: ({ payload }: { readonly payload: PasskeyProof }) =>
    browser.pipe(
      Effect.flatMap((browser) => passkeys.signIn(payload, browser)),
      Effect.flatMap(withCookie),
      Effect.catchTag("Throttled", refuse)
    ),
  passkeys: () => Effect.map(passkeys.list, (passkeys) => ({ passkeys })),
  passkeyOptions: () => passkeys.addOptions,
  addPasskey: ({ payload }: { readonly payload: AddPasskey }) =>
    Effect.flatMap(browser, (browser) => passkeys.add(payload, browser)),
  renamePasskey: ({ params, payload }: Of & { readonly payload: RenamePasskey }) =>
    passkeys.rename(params.passkey, payload.name),
  removePasskey: ({ params }: Of) => passkeys.remove(params.passkey),
  sudoOptions: () => passkeys.sudoOptions
}))
