/** The columns of a board, until it is known what is in them. */
export const BoardSkeleton = () => (
  <div aria-busy="true" aria-label="Loading" className="flex min-h-0 flex-1 gap-3 overflow-hidden p-3" role="status">
    {Array.from({ length: 5 }, (_, column) => (
      <div
        className="bg-sunken border-border min-h-80 w-72 max-w-88 min-w-56 flex-1 rounded-lg border max-sm:shrink-0"
        key={column}
      />
    ))}
  </div>
)
