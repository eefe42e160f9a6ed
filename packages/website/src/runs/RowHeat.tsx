import { useQuery } from "@tanstack/react-query"
import { Heat } from "./Heat.tsx"
import { caseQuery } from "./queries.ts"

interface Props {
  readonly caseId: string
  readonly environment: string | undefined
  readonly product: string
  readonly slug: string
}

/** The newest results of a test, read when its row is drawn. */
const RowHeat = ({ caseId, environment, product, slug }: Props) => {
  const { data } = useQuery({ ...caseQuery(slug, product, caseId, environment), staleTime: 60_000 })
  return data === undefined ? null : <Heat results={data.results} />
}

export default RowHeat
