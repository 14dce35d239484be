/**
 * One process writes. It holds `lock.db` in BEGIN EXCLUSIVE for as long as it lives; the system lets go of it when
 * the process dies, however it dies, so no stale lock is ever left. Nothing may open this file by other means in
 * the same process: closing any handle on it would drop the lock (POSIX).
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** Another process works on this data folder. The message is for the person who started this one. */
export class DataFolderLocked extends Error {
  override readonly name = 'DataFolderLocked'
}

/** Takes the folder. Returns the way to let go of it. Throws `DataFolderLocked` at once when it is taken. */
export function lockDataFolder(data_dir: string): () => void {
  const db = new Database(join(data_dir, 'lock.db'), { create: true, readwrite: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    throw new DataFolderLocked(
      `another Wardpost process is using the data folder ${data_dir}: stop it first, or let it do the work`,
      { cause: error },
    )
  }
  return () => db.close()
}
