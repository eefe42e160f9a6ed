import { Button } from "./Button.tsx"

interface Props {
  /** What comes, in the plural. */
  readonly noun: string
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
}

/** Goes on to older ones, where there are. */
export const Older = ({ noun, query }: Props) =>
  query.hasNextPage && (
    <div className="px-4 py-3">
      <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show older {noun}
      </Button>
    </div>
  )
