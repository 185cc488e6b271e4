export { english } from '../../../src/editor/translate';
