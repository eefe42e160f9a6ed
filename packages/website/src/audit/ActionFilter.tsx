import { adminOperations, auditActions } from "@delivery/domain/audit/AuditActions"
import { Filter } from "../ui/Filter.tsx"

/** The filter by what happened, with all that can. Their names are loaded after the entries. */

const actions = [...auditActions, ...adminOperations].map((value) => ({
  value,
  label: value.includes(".") ? `${value}, refused` : value.replaceAll("_", " ")
}))

interface Props {
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

const ActionFilter = ({ onChange, value }: Props) => (
  <Filter choices={actions} noun="action" onChange={onChange} value={value} />
)

export default ActionFilter
