import { useQuery } from "@tanstack/react-query"
import type { Passkey } from "@delivery/domain/auth/Passkey"
import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { sessionQuery } from "../api/proof.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import { identitiesQuery, methodsQuery, passkeysQuery } from "./queries.ts"

/** How one signs in: passkeys, and accounts at providers. */

const AddPasskey = later(() => import("./AddPasskey.tsx"))
const RenamePasskey = later(() => import("./RenamePasskey.tsx"))

const PasskeyRow = ({ passkey }: { readonly passkey: Passkey }) => {
  const [isRenaming, setRenaming] = useState(false)
  const name = passkey.name
  const remove = useAction({
    act: () => client.auth.removePasskey({ params: { passkey: passkey.id } }),
    done: () => ({ title: `${name} no longer signs you in` }),
    changes: [passkeysQuery.queryKey, sessionQuery.queryKey]
  })
  return (
    <Item
      actions={
        <>
          <Button aria-label={`Rename ${name}`} look="quiet" onClick={() => setRenaming(true)}>
            Rename
          </Button>
          <Sure doing={remove} subject={name} title={`Remove ${name}?`} verb="Remove">
            <p>It signs you in no more. Sessions that it began go on. Delete it on its device, too.</p>
          </Sure>
          {isRenaming && <RenamePasskey onClose={() => setRenaming(false)} passkey={passkey} />}
        </>
      }
      badges={passkey.synced && <Badge title="Kept on more than one device, as the device says">synced</Badge>}
      name={passkey.name}
    >
      <Cell>
        <Since at={passkey.createdAt} never="" word="added" />
      </Cell>
      <Cell>
        <Since at={passkey.lastUsedAt} never="never used" word="used" />
      </Cell>
    </Item>
  )
}

const IdentityRow = ({ identity, provider }: { readonly identity: Identity; readonly provider: string }) => {
  const remove = useAction({
    act: () => client.auth.deleteIdentity({ params: { identity: identity.id } }),
    done: () => ({ title: `Your account at ${provider} no longer signs you in` }),
    changes: [identitiesQuery.queryKey]
  })
  return (
    <Item
      actions={
        <Sure
          doing={remove}
          subject={`your account at ${provider}`}
          title={`Remove your account at ${provider}?`}
          verb="Remove"
        >
          <p>It signs you in no more. Sessions that it began go on.</p>
        </Sure>
      }
      detail={identity.email ?? undefined}
      name={provider}
    >
      <Cell>
        <Since at={identity.createdAt} never="" word="added" />
      </Cell>
      <Cell>
        <Since at={identity.lastUsedAt} never="never used" word="used" />
      </Cell>
    </Item>
  )
}

const Passkeys = () => {
  const { data: methods } = useQuery(methodsQuery)
  const [isAdding, setAdding] = useState(false)
  const mayAdd = methods?.passkeys === true && "PublicKeyCredential" in globalThis
  return (
    <Section
      actions={
        mayAdd && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        )
      }
      isFlush
      title="Passkeys"
    >
      <Loaded query={useQuery(passkeysQuery)} rows={2}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <p className="text-muted px-4 py-2">
              {mayAdd
                ? "None yet. With one you sign in by a finger, a face or a PIN of your device."
                : "None. Browsers use passkeys at the address that the service calls itself, by https or on this computer."}
            </p>
          ) : (
            <ul aria-label="Passkeys">
              {passkeys.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </Section>
  )
}

/** Accounts at providers, where the server has providers or the person an account. */
const Accounts = () => {
  const { data: methods } = useQuery(methodsQuery)
  const { data } = useQuery(identitiesQuery)
  const [providers, identities] = [methods?.providers ?? [], data?.identities ?? []]
  const others = providers.filter(({ id }) => !identities.some(({ provider }) => provider === id))
  if (others.length === 0 && identities.length === 0) return null
  return (
    <Section
      actions={others.map(({ id, name, url }) => (
        <a
          className={buttonClass("plain")}
          href={`${url}?purpose=link&returnTo=${encodeURIComponent(location.pathname)}`}
          key={id}
        >
          Add {name}
        </a>
      ))}
      isFlush
      title="Accounts that sign you in"
    >
      <ul aria-label="Accounts that sign you in">
        {identities.map((identity) => (
          <IdentityRow
            identity={identity}
            key={identity.id}
            provider={providers.find(({ id }) => id === identity.provider)?.name ?? identity.provider}
          />
        ))}
      </ul>
    </Section>
  )
}

export const WaysIn = () => (
  <>
    <Passkeys />
    <Accounts />
  </>
)
