import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, CustomChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

/** What the pictures need of the charting library. */
export { init };
