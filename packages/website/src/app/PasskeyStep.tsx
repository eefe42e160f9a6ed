import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { currentSessionQuery } from "../api/proof.ts"
import AddPasskey from "../identity/AddPasskey.tsx"
import { methodsQuery } from "../identity/queries.ts"
import { Button } from "../ui/Button.tsx"
import Command from "../ui/Command.tsx"
import { Time } from "../ui/Time.tsx"

/** The first thing for whoever came by a link that works once: a way to come back. */

/** Whether the person has a passkey; `none` where they need none, or this browser makes none; undefined until it is known. */
export const useHasPasskey = (): boolean | "none" | undefined => {
  const methods = useQuery(methodsQuery)
  const session = useQuery(currentSessionQuery)
  if (methods.isPending || session.isPending) return undefined
  const { waysIn } = session.data ?? {}
  if (methods.data?.passkeys !== true || !("PublicKeyCredential" in globalThis) || waysIn === undefined) return "none"
  return waysIn.length === 0 ? false : waysIn.includes("passkey") || "none"
}

export const PasskeyStep = () => {
  const { data } = useQuery(currentSessionQuery)
  const [isAdding, setAdding] = useState(false)
  if (data === undefined) return null
  const { person, session } = data
  return (
    <>
      <p className="text-muted">Without one, only a link from the person who runs this service signs you in again.</p>
      {session.sudoUntil === null ? (
        <>
          <p className="text-warning">
            Your last sign-in is too long ago to add one. Open a new sign-in link first: whoever runs this service makes
            one on its host.
          </p>
          <Command text={`pnpm delivery sign-in-link ${person.email}`} />
        </>
      ) : (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Button icon="plus" look="primary" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
          <span className="text-warning">
            Until <time dateTime={session.sudoUntil}>{timeOf(session.sudoUntil)}</time>, <Time at={session.sudoUntil} />
            . After that, adding one takes such a link, too.
          </span>
        </div>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </>
  )
}

const timeOf = (at: string): string => new Date(at).toLocaleTimeString([], { timeStyle: "short" })
