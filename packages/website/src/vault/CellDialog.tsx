import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GenerateSecret, Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import { type KeyboardEvent, useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { ApprovalNote } from "../catalog/ApprovalNote.tsx"
import { inWordsOf, isUnapproved } from "../catalog/unapproved.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import { Bone } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { vaultQuery, versionsQuery, writing } from "./queries.ts"
import { type CellPath, useReveal } from "./useReveal.ts"

/** A secret in an environment: its value, shown for 30 s where it may be read; a new one; and what was written before. */

interface Props {
  readonly slug: string
  readonly secret: Secret
  readonly cell: SecretEnvironment
  readonly onClose: () => void
}

const useMayWrite = ({ cell, slug }: Props): boolean => mayAct(useRole(slug), "member") && !cell.environment.archived

const Present = ({ cell, path }: { readonly cell: SecretEnvironment; readonly path: CellPath }) => {
  const { copy, hide, isBusy, reveal, value } = useReveal(path, cell.version)
  const [isCopied, setCopied] = useState(false)
  const isProduction = cell.environment.class === "production"
  const mayRead = mayAct(useRole(path.slug), "member") && !isProduction
  if (!cell.hasValue)
    return <p className="text-muted">{cell.version === 0 ? "It has no value here yet." : "The value was cleared."}</p>
  return (
    <section aria-label="Value" className="flex flex-col gap-2">
      <div className="border-border bg-sunken rounded-md border px-3 py-2">
        {value === undefined ? (
          <span aria-label="The value is hidden" className="text-muted font-mono text-xs" role="img">
            ••••••••••••
          </span>
        ) : (
          <pre
            className="foreign max-h-60 overflow-auto font-mono text-xs whitespace-pre-wrap"

            tabIndex={0}
          >
            {value}
          </pre>
        )}
      </div>
      {isProduction ? (
        <p className="text-muted">
          Values of production are never shown to anybody. Products read them with a deployment token.
        </p>
      ) : mayRead ? (
        <div className="flex flex-wrap items-center gap-2">
          {value === undefined ? (
            <Button icon="eye" isBusy={isBusy} onClick={() => void reveal()}>
              Reveal for 30 s
            </Button>
          ) : (
            <Button icon="eyeOff" onClick={hide}>
              Hide
            </Button>
          )}
          <Button icon={isCopied ? "check" : "copy"} isBusy={isBusy} onClick={() => void copy().then(setCopied)}>
            {isCopied ? "Copied" : "Copy without showing"}
          </Button>
        </div>
      ) : (
        <p className="text-muted">Your role does not read values.</p>
      )}
    </section>
  )
}

const Versions = (props: Props) => {
  const { cell, secret, slug } = props
  const { data, error } = useQuery(versionsQuery(slug, secret.product.slug, secret.name, cell.environment.slug))
  const mayWrite = useMayWrite(props)
  const write = useWrite(props)
  if (error !== null) return <p className="text-muted">{failureOf(error).message}</p>
  if (data === undefined) return <Bone width="w-full" />
  if (data.versions.length === 0) return null
  return (
    <section aria-label="Versions">
      <h3 className="text-muted pb-1 text-xs font-medium">Versions</h3>
      {write.error !== null && (
        <p className="text-danger pb-1" role="alert">
          {failureOf(inWordsOf(write.error, "It was not restored: that needs the approval of another admin.")).message}
        </p>
      )}
      <ol className="border-border max-h-48 overflow-y-auto rounded-md border" tabIndex={0}>
        {data.versions.map((one) => (
          <li className="border-border flex min-h-7 items-center gap-3 px-3 not-last:border-b" key={one.version}>
            <span className="tabular w-8">v{one.version}</span>
            <span className="text-muted">{one.hasValue ? one.source : "cleared"}</span>
            <span className="flex-1" />
            <span className="text-muted truncate">{actorName(one.createdBy)}</span>
            <span className="text-muted">
              <Time at={one.createdAt} />
            </span>
            {mayWrite && one.hasValue && one.version !== cell.version && (
              <Button
                aria-label={`Restore version ${one.version}`}
                isBusy={write.isPending}
                look="quiet"
                onClick={() => write.mutate({ kind: "restore", version: one.version })}
              >
                Restore
              </Button>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

type Write =
  | { readonly kind: "set"; readonly value: string; readonly isForced: boolean }
  | { readonly kind: "clear" }
  | { readonly kind: "generate"; readonly generator: GenerateSecret["generator"] }
  | { readonly kind: "restore"; readonly version: number }

const done = (write: Write): string => {
  if (write.kind === "restore") return `has the value of version ${write.version} again`
  return write.kind === "clear" ? "is cleared" : "is written"
}

const generators = [
  ["Token of 32 bytes", { type: "token", bytes: 32, encoding: "base64url" }],
  [
    "Password of 24 characters",
    { type: "password", length: 24, lowercase: true, uppercase: true, digits: true, symbols: true }
  ],
  ["UUID", { type: "uuid" }]
] as const

/** Writes what is known at this version, or at the one that the cell is shown at. */
const useWrite = ({ cell, onClose, secret, slug }: Props, expected = cell.version) => {
  const queries = useQueryClient()
  const params = { slug, productSlug: secret.product.slug, name: secret.name }
  const environment = cell.environment.slug
  return useMutation({
    mutationFn: async (write: Write): Promise<unknown> => {
      if (write.kind === "generate") {
        return client.vault.generate({
          params: { slug },
          payload: {
            products: [secret.product.slug],
            environments: [environment],
            name: secret.name,
            generator: write.generator
          }
        })
      }
      const isForced = write.kind === "set" && write.isForced
      return client.vault.update({
        params,
        query: writing,
        payload: {
          ...(write.kind === "restore"
            ? { restore: { [environment]: write.version } }
            : { values: { [environment]: write.kind === "set" ? write.value : null } }),
          ...(isForced ? {} : { expectedVersions: { [environment]: expected } })
        }
      })
    },
    // A value stays nowhere, not even in what was sent.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") }),
    onSuccess: (_, write) => {
      toast({
        title: `${secret.name} of ${secret.product.name} in ${cell.environment.name} ${done(write)}`
      })
      onClose()
    }
  })
}

const sendByKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
  if (event.key !== "Enter" || event.nativeEvent.isComposing) return
  const isSent = event.ctrlKey || event.metaKey
  // Pressed once more than it takes to open this: a value does not begin with a line break by chance.
  if (isSent || event.currentTarget.value === "") event.preventDefault()
  if (isSent) event.currentTarget.form?.requestSubmit()
}

const Generate = ({ onChoose }: { readonly onChoose: (generator: GenerateSecret["generator"]) => void }) => (
  <Menu
    groups={[
      {
        items: generators.map(([label, generator]) => ({
          label,
          onSelect: () => onChoose(generator)
        }))
      }
    ]}
    label="Generate"
    trigger={(trigger) => (
      <button {...trigger} className={buttonClass()} type="button">
        Generate
        <Icon name="chevronDown" size={12} />
      </button>
    )}
  />
)

const Edit = (props: Props) => {
  const { cell, secret, slug } = props
  const [text, setText] = useState("")
  // What was typed is meant for the version that was there when the typing began.
  const [begun, setBegun] = useState(cell.version)
  const write = useWrite(props, text === "" ? cell.version : begun)
  const clear = useWrite(props)
  const failure = write.error === null ? undefined : failureOf(write.error)
  const isConflict = failure?.reason === "version_mismatch"
  const isAtField = failure !== undefined && !isConflict && !isUnapproved(failure)
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== "" && !write.isPending) write.mutate({ kind: "set", value: text, isForced: false })
      }}
    >
      <ApprovalNote environment={cell.environment.slug} isRefused={isUnapproved(failure)} slug={slug} />
      <TextArea
        autoComplete="off"
        hint="Kept byte for byte, also blanks and line breaks at its end."
        isMono
        issue={isAtField ? (issueAt(write.error, "values") ?? failure.message) : undefined}
        label="New value"
        onChange={(event) => {
          if (text === "") setBegun(cell.version)
          setText(event.target.value)
        }}
        onKeyDown={sendByKey}
        rows={3}
        spellCheck={false}
        value={text}
      />
      {isConflict && (
        <div
          className="bg-warning-soft text-warning flex flex-wrap items-center gap-2 rounded-md px-3 py-2"
          role="alert"
        >
          <span className="min-w-40 flex-1">
            Somebody has written it since you began to type, at version {begun}. {failure.message} What you typed is
            still here.
          </span>
          <Button isBusy={write.isPending} onClick={() => write.mutate({ kind: "set", value: text, isForced: true })}>
            Write over it
          </Button>
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button disabled={text === ""} isBusy={write.isPending} look="primary" type="submit">
          Set value
        </Button>
        <Generate onChoose={(generator) => write.mutate({ kind: "generate", generator })} />
        <span className="flex-1" />
        {cell.hasValue && (
          <Sure
            doing={{
              ...clear,
              error: inWordsOf(clear.error, `Writes in ${cell.environment.name} need the approval of another admin.`),
              mutate: () => clear.mutate({ kind: "clear" })
            }}
            title={`Clear ${secret.name} in ${cell.environment.name}?`}
            verb="Clear value"
          >
            <p>Products that read it from now on get none. Its versions stay: you can restore this one at any time.</p>
          </Sure>
        )}
      </div>
    </form>
  )
}

/** The cell as it is now: somebody may write it while it is open. */
const useCell = ({ cell, secret, slug }: Props): Pick<Props, "cell" | "secret"> => {
  const { data } = useQuery(vaultQuery(slug))
  const now = data?.secrets.find(({ id }) => id === secret.id)
  const cellNow = now?.environments.find(({ environment }) => environment.id === cell.environment.id)
  return now === undefined || cellNow === undefined ? { cell, secret } : { cell: cellNow, secret: now }
}

const CellDialog = (opened: Props) => {
  const props = { ...opened, ...useCell(opened) }
  const { cell, onClose, secret, slug } = props
  const path = { slug, product: secret.product.slug, name: secret.name, environment: cell.environment.slug }
  const mayWrite = useMayWrite(props)
  return (
    <Dialog
      description={
        <>
          {secret.product.name} in {cell.environment.name}
          {cell.updatedAt !== null && cell.updatedBy !== null && (
            <>
              , version {cell.version} by {actorName(cell.updatedBy)} <Time at={cell.updatedAt} />
            </>
          )}
        </>
      }
      isPersistent
      onClose={onClose}
      title={secret.name}
    >
      <div className="flex flex-col gap-4">
        <Present cell={cell} path={path} />
        {mayWrite && <Edit {...props} />}
        <Versions {...props} />
      </div>
    </Dialog>
  )
}

export default CellDialog
