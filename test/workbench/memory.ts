/** Under which names the workbench keeps what a window shows. */
export const MEMORY = {
  /** The editors that are open: JSON of which parts are JSON in strings. */
  editors: 'memento/workbench.parts.editor',
  /** What the side bar shows: the id of a view container, and nothing for the Explorer, with which a window begins. */
  sideBar: 'workbench.sidebar.activeviewletid',
} as const;

/**
 * What the workbench in this page keeps under a name, as it has written it; empty when that is nothing yet. Runs in the
 * page.
 */
export async function readMemory(name: string): Promise<string> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(new Error(String(request.error))));
    });
  const kept: string[] = [];
  for (const each of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(each.name!));
    if (database.objectStoreNames.contains('ItemTable')) {
      const items = database.transaction('ItemTable').objectStore('ItemTable');
      const value: unknown = await settled(items.get(name));
      if (typeof value === 'string') kept.push(value);
    }
    database.close();
  }
  return kept.join('\n');
}
