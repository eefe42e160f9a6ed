import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { Bone } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { versionsQuery } from "./queries.ts"
import { type CellPath, useReveal } from "./useReveal.ts"

/** A secret in an environment: its value, shown for 30 s where it may be read; a new one; and what was written before. */

interface Props {
  readonly slug: string
  readonly secret: Secret
  readonly cell: SecretEnvironment
  readonly onClose: () => void
}

const Present = ({ cell, path }: { readonly cell: SecretEnvironment; readonly path: CellPath }) => {
  const { copy, hide, isBusy, reveal, value } = useReveal(path)
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
          <Button
            icon={isCopied ? "check" : "copy"}
            isBusy={isBusy}
            onClick={() => void copy().then(() => setCopied(true))}
          >
            {isCopied ? "Copied" : "Copy without showing"}
          </Button>
        </div>
      ) : (
        <p className="text-muted">Your role does not read values.</p>
      )}
    </section>
  )
}

const Versions = ({ path }: { readonly path: CellPath }) => {
  const { data, error } = useQuery(versionsQuery(path.slug, path.product, path.name, path.environment))
  if (error !== null) return <p className="text-muted">{failureOf(error).message}</p>
  if (data === undefined) return <Bone width="w-full" />
  if (data.versions.length === 0) return null
  return (
    <section aria-label="Versions">
      <h3 className="text-muted pb-1 text-xs font-medium">Versions</h3>
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
          </li>
        ))}
      </ol>
    </section>
  )
}

type Write =
  | { readonly kind: "set"; readonly value: string; readonly isForced: boolean }
  | { readonly kind: "clear" }
  | { readonly kind: "generate" }

const useWrite = ({ cell, onClose, secret, slug }: Props) => {
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
            generator: { type: "token", bytes: 32, encoding: "base64url" }
          }
        })
      }
      const value = write.kind === "set" ? write.value : null
      const isForced = write.kind === "set" && write.isForced
      return client.vault.update({
        params,
        payload: {
          values: { [environment]: value },
          ...(isForced ? {} : { expectedVersions: { [environment]: cell.version } })
        }
      })
    },
    // A value stays nowhere, not even in what was sent.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") }),
    onSuccess: (_, write) => {
      toast({
        title: `${secret.name} in ${cell.environment.name} is ${write.kind === "clear" ? "cleared" : "written"}`
      })
      onClose()
    }
  })
}

const Edit = (props: Props) => {
  const { cell } = props
  const [text, setText] = useState("")
  const [isSure, setSure] = useState(false)
  const write = useWrite(props)
  const failure = write.error === null ? undefined : failureOf(write.error)
  const isConflict = failure?.reason === "version_mismatch"
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== "") write.mutate({ kind: "set", value: text, isForced: false })
      }}
    >
      <TextArea
        autoComplete="off"
        hint="Kept byte for byte, also blanks and line breaks at its end."
        isMono
        issue={failure === undefined || isConflict ? undefined : (issueAt(write.error, "values") ?? failure.message)}
        label="New value"
        onChange={(event) => setText(event.target.value)}
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
            Somebody has written it since you opened this at version {cell.version}. {failure.message} What you typed is
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
        <Button isBusy={write.isPending} onClick={() => write.mutate({ kind: "generate" })}>
          Generate
        </Button>
        <span className="flex-1" />
        {cell.hasValue && (
          <Button
            isBusy={write.isPending}
            look={isSure ? "danger" : "quiet"}
            onBlur={() => setSure(false)}
            onClick={() => (isSure ? write.mutate({ kind: "clear" }) : setSure(true))}
          >
            {isSure ? "Really clear? Products lose it" : "Clear value"}
          </Button>
        )}
      </div>
    </form>
  )
}

const CellDialog = (props: Props) => {
  const { cell, onClose, secret, slug } = props
  const path = { slug, product: secret.product.slug, name: secret.name, environment: cell.environment.slug }
  const mayWrite = mayAct(useRole(slug), "member") && !cell.environment.archived
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
        <Versions path={path} />
      </div>
    </Dialog>
  )
}

export default CellDialog
