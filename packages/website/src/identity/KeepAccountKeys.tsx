interface Props {
  readonly isKept: boolean
  readonly onChange: (isKept: boolean) => void
}

/** Whether account API keys go on that would end with what is done: programs of others may use them. */
export const KeepAccountKeys = ({ isKept, onChange }: Props) => (
  <label className="flex items-center gap-2">
    <input
      checked={isKept}
      className="accent-accent-fill"
      onChange={({ target }) => onChange(target.checked)}
      type="checkbox"
    />
    Keep the account API keys: they go on working
  </label>
)

/** What a request says of them. */
export const keeping = (isKept: boolean): { readonly accountApiKeys?: "keep" } =>
  isKept ? { accountApiKeys: "keep" } : {}
