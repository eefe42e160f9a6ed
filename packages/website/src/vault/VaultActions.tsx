import { useNavigate, useSearch } from "@tanstack/react-router"
import { Button, IconButton } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { Menu } from "../ui/Menu.tsx"

/** What can be done with the vault, by buttons and keys. */

interface Props {
  readonly slug: string
  readonly mayWrite: boolean
  readonly onAdd: () => void
  readonly onBatch: () => void
  readonly onPaste: () => void
}

export const VaultActions = ({ mayWrite, onAdd, onBatch, onPaste, slug }: Props) => {
  const { product } = useSearch({ from: "/w/$slug/vault" })
  const navigate = useNavigate()
  const compare = () =>
    void navigate({ to: "/w/$slug/vault/compare", params: { slug }, search: product === undefined ? {} : { product } })
  const others = [
    { keys: "e", label: "Compare environments", run: compare },
    ...(mayWrite ? [{ keys: "b", label: "Edit several cells", run: onBatch }] : [])
  ]
  useKeys([
    ...others.map((one) => ({ ...one, group: "Vault" })),
    ...(mayWrite
      ? [
          { keys: "c", label: "Add a secret", group: "Vault", run: onAdd },
          { keys: "v", label: "Paste a .env file", group: "Vault", run: onPaste }
        ]
      : [])
  ])
  return (
    <>
      {mayWrite && (
        <>
          <Button onClick={onPaste} shortcut="v">
            Paste .env
          </Button>
          <Button icon="plus" look="primary" onClick={onAdd} shortcut="c">
            Add secret
          </Button>
        </>
      )}
      <Menu
        groups={[{ items: others.map(({ keys, label, run }) => ({ label, shortcut: keys, onSelect: run })) }]}
        label="More"
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
    </>
  )
}
