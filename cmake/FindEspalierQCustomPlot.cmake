# One target on every platform: Espalier::QCustomPlot. Debian and Ubuntu have a config package for the Qt 6 library, vcpkg has a
# header and a library without one. The Qt 5 library of the same name is never taken: it links into a Qt 6 program without a word
# and aborts when it runs. Call find_package(Qt6 COMPONENTS Widgets PrintSupport) before.
if(NOT TARGET Espalier::QCustomPlot)
  find_package(QCustomPlotQt6 QUIET CONFIG)
  add_library(espalier_qcustomplot INTERFACE)
  add_library(Espalier::QCustomPlot ALIAS espalier_qcustomplot)
  if(TARGET QCustomPlotQt6::QCustomPlotQt6)
    target_link_libraries(espalier_qcustomplot INTERFACE QCustomPlotQt6::QCustomPlotQt6)
    set(EspalierQCustomPlot_FOUND TRUE)
  else()
    find_path(QCUSTOMPLOT_INCLUDE_DIR qcustomplot.h)
    if(WIN32) # vcpkg builds its port with Qt 6 under the plain name
      find_library(QCUSTOMPLOT_LIBRARY NAMES QCustomPlotQt6 qcustomplot2 qcustomplot)
    else()
      find_library(QCUSTOMPLOT_LIBRARY NAMES QCustomPlotQt6 qcustomplotqt6)
    endif()
    target_include_directories(espalier_qcustomplot SYSTEM INTERFACE ${QCUSTOMPLOT_INCLUDE_DIR})
    target_link_libraries(espalier_qcustomplot INTERFACE Qt6::Widgets Qt6::PrintSupport ${QCUSTOMPLOT_LIBRARY})
    if(WIN32)
      target_compile_definitions(espalier_qcustomplot INTERFACE QCUSTOMPLOT_USE_LIBRARY)
    endif()
    include(FindPackageHandleStandardArgs)
    find_package_handle_standard_args(EspalierQCustomPlot
      REQUIRED_VARS QCUSTOMPLOT_LIBRARY QCUSTOMPLOT_INCLUDE_DIR
      REASON_FAILURE_MESSAGE "QCustomPlot built with Qt 6 is needed for the window (Debian, Ubuntu: libqcustomplot-dev); -DESPALIER_STUDIO=OFF builds without it")
  endif()
endif()
