import {
  QueryClient,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  type QueryKey,
  type UseQueryResult,
} from '@tanstack/react-query'
import { api, ApiProblem, type Query } from './api.ts'
import { acceptNews, useSteady } from './steady.ts'
import type { Page } from './types.ts'

/** How often what is on screen is asked for again. */
export const POLL_MS = 30_000

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiProblem && error.status === 0,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
})

interface ReadOptions {
  enabled?: boolean
  poll?: boolean
  /** Keep what was on screen while a new question is asked (another range, another filter). */
  keep?: boolean
}

/** Reads one document; asked again every 30 s while it is on screen. */
export function useGet<T>(path: string, query: Query = {}, options: ReadOptions = {}): UseQueryResult<T> {
  return useQuery<T>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<T>(path, query, { signal }),
    enabled: options.enabled ?? true,
    refetchInterval: options.poll === false ? false : POLL_MS,
    ...(options.keep === true ? { placeholderData: keepPreviousData } : {}),
  })
}

export interface ListState<T> {
  items: T[]
  isPending: boolean
  isRefreshing: boolean
  error: unknown
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  /** Rows that came by polling and wait to be shown. */
  news: number
  showNews: () => void
  refetch: () => void
}

/** Reads a cursor list page by page. `query` holds filters and sort; a change of it starts at the first page. */
export function useList<T>(path: string, query: Query = {}, options: ReadOptions = {}): ListState<T> {
  const result = useInfiniteQuery({
    queryKey: [path, 'list', query] as QueryKey,
    queryFn: ({ pageParam, signal }) =>
      api.get<Page<T>>(path, { ...query, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
    enabled: options.enabled ?? true,
    // Only a list of one page is asked for again by itself: longer ones would be read whole every time.
    refetchInterval: (state) => {
      if (options.poll === false) return false
      return (state.state.data?.pages.length ?? 0) <= 1 ? POLL_MS : false
    },
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  })
  const { fetchNextPage, refetch } = result
  const pages = result.data?.pages ?? []
  const steady = useSteady(
    `${path} ${JSON.stringify(query)} ${result.isPlaceholderData}`,
    pages.length,
    pages.flatMap((page) => page.items),
  )
  return {
    items: steady.items,
    news: steady.news,
    showNews: steady.showNews,
    isPending: result.isPending && (options.enabled ?? true),
    isRefreshing: result.isPlaceholderData,
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => {
      if (!result.isFetchingNextPage && result.hasNextPage) void fetchNextPage()
    },
    refetch: () => void refetch(),
  }
}

/** From this many loaded pages on, a list starts again at its first page instead of being read whole. */
const REREAD_PAGES_MAX = 3

function isLong(query: { queryKey: QueryKey; state: { data: unknown } }): boolean {
  const data = query.state.data as { pages?: unknown[] } | undefined
  return query.queryKey[1] === 'list' && (data?.pages?.length ?? 0) > REREAD_PAGES_MAX
}

/** Something changed elsewhere: what is on screen from these paths is asked for again, lists while they are one page. */
export function askAgain(touched: (path: string) => boolean): void {
  void queries.invalidateQueries(
    {
      predicate: ({ queryKey: [path, kind], state }) => {
        if (typeof path !== 'string' || !touched(path)) return false
        const pages = (state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0
        return kind !== 'list' || pages <= 1
      },
    },
    // What is on its way is not asked for twice.
    { cancelRefetch: false },
  )
}

/** After a change by the person: everything read from these paths is asked for again and shown at once. */
export async function refresh(...paths: string[]): Promise<void> {
  const of_paths = (key: QueryKey): boolean => {
    const path = key[0]
    return typeof path === 'string' && paths.some((prefix) => path.startsWith(prefix))
  }
  await Promise.all([
    queries.resetQueries({ predicate: (query) => of_paths(query.queryKey) && isLong(query) }),
    queries.invalidateQueries({ predicate: (query) => of_paths(query.queryKey) && !isLong(query) }),
  ])
  acceptNews()
}
