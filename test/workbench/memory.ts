/** Names under which the workbench stores the state of a window. */
export const MEMORY = {
  /** The open editors, as JSON with further JSON in strings. */
  editors: 'memento/workbench.parts.editor',
  /** Id of the view container in the side bar; absent for the Explorer, the initial one. */
  sideBar: 'workbench.sidebar.activeviewletid',
  /** What Tandem keeps for the workspace. */
  tandem: 'tandem.tandem',
} as const;

/**
 * Reads the state that the workbench has stored under a name, as written; empty when there is none. It runs in the
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
